/* SPDX-License-Identifier: Apache-2.0 */
#include "depthwise_rows.h"

#include "four_elements.h"
#include "scaled.h"

/* Output rows; the loads of a window may cross a word boundary. FINISH requantizes a sum in x0, by the operands behind
 * it. */
#define ROWS(FIRST_DOT, DOT, FINISH, ...)                                                                       \
  for (uint32_t row = rows->count; row > 0u; --row, x += next, y += gap) {                                      \
    const uint8_t *p0 = x, *p1 = x + row_step, *p2 = p1 + row_step;                                             \
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[x0]", "%[s]", "%[p0]") XP_LWR("%[x1]", "%[s]", "%[p1]")  \
                         XP_LWR("%[x2]", "%[s]", "%[p2]") FIRST_DOT("%[x0]", "%[x0]", "%[w0]")                   \
                         DOT("%[x0]", "%[x1]", "%[w1]") DOT("%[x0]", "%[x2]", "%[w2]") FINISH                    \
                         XP_LOOP_END XP_SBR("%[x0]", "%[ys]", "%[y]") XP_END                                    \
                     : [p0] "+r"(p0), [p1] "+r"(p1), [p2] "+r"(p2), [y] "+r"(y), [x0] "=&r"(x0), [x1] "=&r"(x1), \
                       [x2] "=&r"(x2)                                                                           \
                     : [n] "r"(n), [s] "r"(stride), [w0] "r"(w0), [w1] "r"(w1), [w2] "r"(w2), __VA_ARGS__,       \
                       [ys] "r"(step)                                                                           \
                     : "memory");                                                                               \
  }
#define SIGNED_ROWS(...) ROWS(XP_DOTSP, XP_SDOTSP, __VA_ARGS__)
#define UNSIGNED_ROWS(...) ROWS(XP_DOTUSP, XP_SDOTUSP, __VA_ARGS__)

#define NARROW(CLIP)                                                                     \
  "mul %[x0],%[x0],%[m]\n" XP_ADDNR("%[x0]", "%[a]", "%[sh]") CLIP("%[x0]", "%[x0]", "%[h]"), \
      [m] "r"(mul), [a] "r"(add), [sh] "r"(shift), [h] "r"(high)

void tvm_pulp_depthwise_three_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  const struct tvm_pulp_requant *requant = &args->requant;
  const int32_t *weight = (const int32_t *)(const void *)rows->weight;
  uint32_t at = requant->per_channel ? rows->channel : 0u, n = args->out_width, step = args->y_pixel_stride;
  uint32_t gap = args->y_row_stride - n * step;
  uint32_t next = p->next, row_step = p->row_step, stride = args->stride_x;
  const uint8_t *x = rows->x;
  uint8_t *y = rows->y;
  int32_t w0 = weight[0], w1 = weight[1], w2 = weight[2], mul = requant->mul[at];
  int32_t shift = requant->shift, high = requant->high, x0, x1, x2;
  /* (sum + bias) * mul + add; the result fits 32 bits, so intermediate ones may wrap. */
  int32_t add = tvm_pulp_xp_mac(requant->add[at], args->bias[rows->channel], mul);
  if (args->x_type == TVM_PULP_UINT8) {
    FOUR_BY_RANGE(requant, UNSIGNED_ROWS(NARROW(XP_CLIPUR)), UNSIGNED_ROWS(NARROW(XP_CLIPR)));
  } else {
    FOUR_BY_RANGE(requant, SIGNED_ROWS(NARROW(XP_CLIPUR)), SIGNED_ROWS(NARROW(XP_CLIPR)));
  }
}

/* One rounding, and TFLite's two. */
#define ONCE "mulhsu %[x0],%[x0],%[m]\n"
#define TWICE "slli %[x0],%[x0],1\nmulhsu %[x0],%[x0],%[m]\nsrai %[x1],%[x0],31\n" XP_MAC("%[x0]", "%[x1]", "%[nudge]")
#define SCALED(SCALE)                                                                                             \
  "add %[x0],%[x0],%[b]\n" SCALE XP_ADDNR("%[x0]", "%[a]", "%[sh]") XP_CLIPR("%[x0]", "%[x0]", "%[h]")             \
  "add %[x0],%[x0],%[mid]\n", [b] "r"(bias), [m] "r"(c.factor), [nudge] "r"(s.nudge), [a] "r"(c.add),              \
      [sh] "r"(c.shift), [h] "r"(s.high), [mid] "r"(s.middle)

void tvm_pulp_depthwise_three_scaled_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  const struct tvm_pulp_requant *requant = &args->requant;
  const struct tvm_pulp_scaled s = tvm_pulp_scaled_of(requant);
  const struct tvm_pulp_scaled_channel c = tvm_pulp_scaled_channel_of(requant, &s, rows->channel);
  const int32_t *weight = (const int32_t *)(const void *)rows->weight;
  uint32_t n = args->out_width, step = args->y_pixel_stride, gap = args->y_row_stride - n * step;
  uint32_t next = p->next, row_step = p->row_step, stride = args->stride_x;
  const uint8_t *x = rows->x;
  uint8_t *y = rows->y;
  int32_t w0 = weight[0], w1 = weight[1], w2 = weight[2], bias = args->bias[rows->channel], x0, x1, x2;
  if (args->x_type == TVM_PULP_UINT8) {
    if (s.nudge) {
      UNSIGNED_ROWS(SCALED(TWICE))
    } else {
      UNSIGNED_ROWS(SCALED(ONCE))
    }
  } else if (s.nudge) {
    SIGNED_ROWS(SCALED(TWICE))
  } else {
    SIGNED_ROWS(SCALED(ONCE))
  }
}
