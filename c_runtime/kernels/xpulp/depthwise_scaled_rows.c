/* SPDX-License-Identifier: Apache-2.0 */
#include "depthwise_rows.h"
#include "scaled.h"
#include "tvm_pulp/xpulp.h"

/* One output row; the loads of a window may cross a word boundary. */
#define ROW(FIRST_DOT, DOT)                                                                                     \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[x0]", "%[s]", "%[p0]") XP_LWR("%[x1]", "%[s]", "%[p1]")    \
                       XP_LWR("%[x2]", "%[s]", "%[p2]") FIRST_DOT("%[x0]", "%[x0]", "%[w0]")                     \
                       DOT("%[x0]", "%[x1]", "%[w1]") DOT("%[x0]", "%[x2]", "%[w2]")                             \
                       "add %[x0],%[x0],%[b]\nslli %[x0],%[x0],1\nmulhsu %[x0],%[x0],%[m]\n"                     \
                       "srai %[x1],%[x0],31\n" XP_MAC("%[x0]", "%[x1]", "%[nudge]")                              \
                       XP_ADDNR("%[x0]", "%[a]", "%[sh]") XP_CLIPR("%[x0]", "%[x0]", "%[h]")                     \
                       "add %[x0],%[x0],%[mid]\n" XP_LOOP_END XP_SBR("%[x0]", "%[ys]", "%[y]") XP_END            \
                   : [p0] "+r"(p0), [p1] "+r"(p1), [p2] "+r"(p2), [y] "+r"(y), [x0] "=&r"(x0), [x1] "=&r"(x1),   \
                     [x2] "=&r"(x2)                                                                             \
                   : [n] "r"(n), [s] "r"(args->stride_x), [w0] "r"(w0), [w1] "r"(w1), [w2] "r"(w2), [b] "r"(bias), \
                     [m] "r"(mul), [nudge] "r"(s.nudge), [a] "r"(add), [sh] "r"(shift), [h] "r"(s.high),        \
                     [mid] "r"(s.middle), [ys] "r"(step)                                                        \
                   : "memory")
#define ROWS(FIRST_DOT, DOT)                                          \
  for (uint32_t row = 0; row < count; ++row) {                        \
    const uint8_t *p0 = x, *p1 = x + plane_row, *p2 = p1 + plane_row; \
    ROW(FIRST_DOT, DOT);                                              \
    x += next;                                                        \
  }

void tvm_pulp_depthwise_three_scaled_rows(const struct tvm_pulp_planes *p, uint32_t j, uint32_t channel, uint32_t count,
                                          uint8_t *y) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  const struct tvm_pulp_requant *requant = &args->requant;
  const struct tvm_pulp_scaled s = tvm_pulp_scaled_of(requant);
  const int32_t *weight = (const int32_t *)(const void *)args->weight + 3u * channel;
  uint32_t at = requant->per_channel ? channel : 0u, n = args->out_width, step = args->y_pixel_stride;
  uint32_t plane_row = 4u * args->plane_stride, next = args->stride_y * plane_row;
  uint32_t mul = (uint32_t)requant->mul[at] << 1;
  const uint8_t *x = p->planes + j * args->plane_stride + p->first;
  int32_t w0 = weight[0], w1 = weight[1], w2 = weight[2], bias = args->bias[channel], x0, x1, x2;
  int32_t shift = requant->add[at] * s.factor + s.offset;
  int32_t add = (int32_t)(((uint32_t)s.summand << (uint32_t)shift) + (uint32_t)s.nudge) >> 1;
  if (args->x_type == TVM_PULP_UINT8) {
    ROWS(XP_DOTUSP, XP_SDOTUSP)
  } else {
    ROWS(XP_DOTSP, XP_SDOTSP)
  }
}
