/* SPDX-License-Identifier: Apache-2.0 */
#include "depthwise_rows.h"

#include "tvm_pulp/xpulp.h"

/* One output row; the loads of a window may cross a word boundary. */
#define ROW(FIRST_DOT, DOT, CLIP)                                                                             \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[x0]", "%[s]", "%[p0]") XP_LWR("%[x1]", "%[s]", "%[p1]")  \
                       XP_LWR("%[x2]", "%[s]", "%[p2]") FIRST_DOT("%[x0]", "%[x0]", "%[w0]")                   \
                       DOT("%[x0]", "%[x1]", "%[w1]") DOT("%[x0]", "%[x2]", "%[w2]") "mul %[x0],%[x0],%[m]\n"  \
                       XP_ADDNR("%[x0]", "%[a]", "%[sh]") CLIP("%[x0]", "%[x0]", "%[h]")                       \
                       XP_LOOP_END XP_SBR("%[x0]", "%[ys]", "%[y]") XP_END                                    \
                   : [p0] "+r"(p0), [p1] "+r"(p1), [p2] "+r"(p2), [y] "+r"(y), [x0] "=&r"(x0), [x1] "=&r"(x1), \
                     [x2] "=&r"(x2)                                                                           \
                   : [n] "r"(n), [s] "r"(stride), [w0] "r"(w0), [w1] "r"(w1), [w2] "r"(w2), [m] "r"(mul), \
                     [a] "r"(add), [sh] "r"(shift), [h] "r"(high), [ys] "r"(step)                             \
                   : "memory")
#define ROWS(FIRST_DOT, DOT, CLIP)                                                    \
  for (uint32_t row = rows->count; row > 0u; --row, x += next, y += gap) {            \
    const uint8_t *p0 = x, *p1 = x + row_step, *p2 = p1 + row_step;                   \
    ROW(FIRST_DOT, DOT, CLIP);                                                        \
  }

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
    if (requant->low == 0) {
      ROWS(XP_DOTUSP, XP_SDOTUSP, XP_CLIPUR)
    } else {
      ROWS(XP_DOTUSP, XP_SDOTUSP, XP_CLIPR)
    }
  } else if (requant->low == 0) {
    ROWS(XP_DOTSP, XP_SDOTSP, XP_CLIPUR)
  } else {
    ROWS(XP_DOTSP, XP_SDOTSP, XP_CLIPR)
  }
}
