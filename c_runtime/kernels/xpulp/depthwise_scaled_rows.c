/* SPDX-License-Identifier: Apache-2.0 */
#include "depthwise_rows.h"
#include "scaled.h"
#include "tvm_pulp/xpulp.h"

/* One output row; the loads of a window may cross a word boundary. */
#define ROW(FIRST_DOT, DOT, SCALE)                                                                              \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[x0]", "%[s]", "%[p0]") XP_LWR("%[x1]", "%[s]", "%[p1]")    \
                       XP_LWR("%[x2]", "%[s]", "%[p2]") FIRST_DOT("%[x0]", "%[x0]", "%[w0]")                     \
                       DOT("%[x0]", "%[x1]", "%[w1]") DOT("%[x0]", "%[x2]", "%[w2]")                             \
                       "add %[x0],%[x0],%[b]\n" SCALE                                                            \
                       XP_ADDNR("%[x0]", "%[a]", "%[sh]") XP_CLIPR("%[x0]", "%[x0]", "%[h]")                     \
                       "add %[x0],%[x0],%[mid]\n" XP_LOOP_END XP_SBR("%[x0]", "%[ys]", "%[y]") XP_END            \
                   : [p0] "+r"(p0), [p1] "+r"(p1), [p2] "+r"(p2), [y] "+r"(y), [x0] "=&r"(x0), [x1] "=&r"(x1),   \
                     [x2] "=&r"(x2)                                                                             \
                   : [n] "r"(n), [s] "r"(stride), [w0] "r"(w0), [w1] "r"(w1), [w2] "r"(w2), [b] "r"(bias), \
                     [m] "r"(c.factor), [nudge] "r"(s.nudge), [a] "r"(c.add), [sh] "r"(c.shift), [h] "r"(s.high), \
                     [mid] "r"(s.middle), [ys] "r"(step)                                                        \
                   : "memory")
/* One rounding, and TFLite's two. */
#define ONCE "mulhsu %[x0],%[x0],%[m]\n"
#define TWICE "slli %[x0],%[x0],1\nmulhsu %[x0],%[x0],%[m]\nsrai %[x1],%[x0],31\n" XP_MAC("%[x0]", "%[x1]", "%[nudge]")
#define ROWS(FIRST_DOT, DOT, SCALE)                                                   \
  for (uint32_t row = rows->count; row > 0u; --row, x += next, y += gap) {            \
    const uint8_t *p0 = x, *p1 = x + row_step, *p2 = p1 + row_step;                   \
    ROW(FIRST_DOT, DOT, SCALE);                                                       \
  }

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
      ROWS(XP_DOTUSP, XP_SDOTUSP, TWICE)
    } else {
      ROWS(XP_DOTUSP, XP_SDOTUSP, ONCE)
    }
  } else if (s.nudge) {
    ROWS(XP_DOTSP, XP_SDOTSP, TWICE)
  } else {
    ROWS(XP_DOTSP, XP_SDOTSP, ONCE)
  }
}
