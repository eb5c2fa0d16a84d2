/* SPDX-License-Identifier: Apache-2.0
 *
 * Four neighbouring outputs at a time: a word of weights serves all of them. Words of a plane may cross a boundary. */
#include "depthwise_rows.h"
#include "tvm_pulp/xpulp.h"

#define OPERANDS                                                                                                    \
  : XP_FOUR("+r", a), XP_FOUR("+r", p), [w] "+r"(w), XP_FOUR("=&r", x), [t] "=&r"(t)                                \
  : [n] "r"(n), [step] "r"(step), [wstep] "r"(weight_step)                                                          \
  : "memory"
/* A word of the kernel with the words of four windows; the pointers move on by 4, or by registers. */
#define LOADS \
  XP_LW("%[t]", 4, "%[w]") XP_LW("%[x0]", 4, "%[p0]") XP_LW("%[x1]", 4, "%[p1]") XP_LW("%[x2]", 4, "%[p2]") \
  XP_LW("%[x3]", 4, "%[p3]")
#define LAST_LOADS \
  XP_LWR("%[t]", "%[wstep]", "%[w]") XP_LWR("%[x0]", "%[step]", "%[p0]") XP_LWR("%[x1]", "%[step]", "%[p1]") \
  XP_LWR("%[x2]", "%[step]", "%[p2]") XP_LWR("%[x3]", "%[step]", "%[p3]")
#define DOTS(DOT) \
  DOT("%[a0]", "%[x0]", "%[t]") DOT("%[a1]", "%[x1]", "%[t]") DOT("%[a2]", "%[x2]", "%[t]")
#define LAST_DOT(DOT) DOT("%[a3]", "%[x3]", "%[t]")
/* Rows of one word, of two and of three, and the words of one row. */
#define ONE(DOT) \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LAST_LOADS DOTS(DOT) XP_LOOP_END LAST_DOT(DOT) XP_END OPERANDS)
#define TWO(DOT)                                                                                       \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LOADS DOTS(DOT) LAST_DOT(DOT) LAST_LOADS DOTS(DOT)         \
                       XP_LOOP_END LAST_DOT(DOT) XP_END OPERANDS)
#define THREE(DOT)                                                                                     \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LOADS DOTS(DOT) LAST_DOT(DOT) LOADS DOTS(DOT) LAST_DOT(DOT) \
                       LAST_LOADS DOTS(DOT) XP_LOOP_END LAST_DOT(DOT) XP_END OPERANDS)
#define MANY(DOT) \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LOADS DOTS(DOT) XP_LOOP_END LAST_DOT(DOT) XP_END OPERANDS)
#define KERNEL(DOT)                                                                                    \
  if (words == 1u) {                                                                                   \
    ONE(DOT);                                                                                          \
  } else if (words == 2u) {                                                                            \
    TWO(DOT);                                                                                          \
  } else if (words == 3u) {                                                                            \
    THREE(DOT);                                                                                        \
  } else {                                                                                             \
    for (uint32_t ky = 0; ky < height; ++ky) {                                                         \
      MANY(DOT);                                                                                       \
      p0 += behind, p1 += behind, p2 += behind, p3 += behind, w += weight_behind;                      \
    }                                                                                                  \
  }

static void sum_channel(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  uint32_t words = (args->kernel_width + 3u) >> 2, height = args->kernel_height, width = args->out_width;
  uint32_t stride = args->stride_x;
  uint32_t step = p->row_step - 4u * (words - 1u), weight_step = p->weight_bytes - 4u * (words - 1u);
  uint32_t behind = step - 4u, weight_behind = weight_step - 4u, n = words > 3u ? words : height;
  uint32_t last = width > 4u ? width - 4u : 0u, is_unsigned = args->x_type == TVM_PULP_UINT8;
  int32_t bias = args->bias[rows->channel], *sums = rows->sums;
  const uint8_t *x = rows->x;
  for (uint32_t row = 0; row < rows->count; ++row, x += p->next, sums += p->sum_width) {
    for (uint32_t ox = 0;; ox += 4u) {
      /* The last four reach back. */
      if (ox > last) ox = last;
      const uint8_t *p0 = x + ox * stride, *p1 = p0 + stride, *p2 = p1 + stride, *p3 = p2 + stride;
      const int8_t *w = rows->weight;
      int32_t a0 = bias, a1 = bias, a2 = bias, a3 = bias, x0, x1, x2, x3, t;
      if (is_unsigned) {
        KERNEL(XP_SDOTUSP)
      } else {
        KERNEL(XP_SDOTSP)
      }
      int32_t *to = sums + ox;
      to[0] = a0, to[1] = a1, to[2] = a2, to[3] = a3;
      if (ox == last) break;
    }
  }
}

void tvm_pulp_depthwise_sums(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  struct tvm_pulp_plane_rows one = *rows;
  for (uint32_t same = args->multiplier;;) {
    sum_channel(p, &one);
    if (--one.channels == 0u) return;
    one.channel++;
    one.weight += args->kernel_height * p->weight_bytes;
    one.sums += one.count * p->sum_width;
    if (--same == 0u) same = args->multiplier, one.x += args->plane_stride;
  }
}
