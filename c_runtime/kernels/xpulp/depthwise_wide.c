/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of kernels of five to eight columns: four neighbouring outputs of two rows at a time. Words of the planes are
 * loaded once for the four of a row, words of the moved weights (packed_weights.h) once for both rows. */
#include "depthwise_rows.h"
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/xpulp.h"

/* Words of the windows, of which the last one of a row moves on to the next row of the kernel, and a word of weights. */
#define XA0 "%[xa0]"
#define XB0 "%[xb0]"
#define XA1 XP_SCRATCH(xa1, "t2")
#define XB1 XP_SCRATCH(xb1, "t3")
#define XA2 XP_SCRATCH(xa2, "t4")
#define XB2 XP_SCRATCH(xb2, "t5")
#define X(i) XP_LW(XA##i, 4, "%[pa]") XP_LW(XB##i, 4, "%[pb]")
#define LAST_X(i) XP_LWR(XA##i, "%[step]", "%[pa]") XP_LWR(XB##i, "%[step]", "%[pb]")
#define W(t) XP_LW("%[" #t "]", 4, "%[w]")
/* Output o of both rows. */
#define MEET_A(DOT, o, i, t) DOT("%[a" #o "]", XA##i, "%[" #t "]")
#define MEET_B(DOT, o, i, t) DOT("%[b" #o "]", XB##i, "%[" #t "]")
#define MEET(DOT, o, i, t) MEET_A(DOT, o, i, t) MEET_B(DOT, o, i, t)

/* A row of the kernel: five columns, up to seven, and with a stride of two up to six and up to eight. */
#define FIVE(DOT)                                                                                          \
  X(0) W(t0) LAST_X(1) W(t1) MEET(DOT, 0, 0, t0) W(t0) MEET(DOT, 0, 1, t1) W(t1) MEET(DOT, 1, 0, t0) W(t0) \
  MEET(DOT, 1, 1, t1) W(t1) MEET(DOT, 2, 0, t0) W(t0) MEET(DOT, 2, 1, t1) W(t1) MEET(DOT, 3, 0, t0)        \
  MEET_A(DOT, 3, 1, t1) XP_LOOP_END MEET_B(DOT, 3, 1, t1)
#define SEVEN(DOT)                                                                                        \
  X(0) W(t0) X(1) W(t1) LAST_X(2) MEET(DOT, 0, 0, t0) W(t0) MEET(DOT, 0, 1, t1) W(t1) MEET(DOT, 1, 0, t0) \
  W(t0) MEET(DOT, 1, 1, t1) W(t1) MEET(DOT, 2, 0, t0) W(t0) MEET(DOT, 2, 1, t1) W(t1) MEET(DOT, 2, 2, t0) \
  W(t0) MEET(DOT, 3, 0, t1) W(t1) MEET(DOT, 3, 1, t0) MEET_A(DOT, 3, 2, t1) XP_LOOP_END MEET_B(DOT, 3, 2, t1)
#define STRIDED_SIX(DOT)                                                                            \
  X(0) W(t0) X(1) W(t1) LAST_X(2) MEET(DOT, 0, 0, t0) MEET(DOT, 2, 1, t0) W(t0) MEET(DOT, 0, 1, t1) \
  MEET(DOT, 2, 2, t1) W(t1) MEET(DOT, 1, 0, t0) MEET(DOT, 3, 1, t0) MEET(DOT, 1, 1, t1)             \
  MEET_A(DOT, 3, 2, t1) XP_LOOP_END MEET_B(DOT, 3, 2, t1)
#define STRIDED_EIGHT(DOT)                                                                              \
  X(0) W(t0) X(1) W(t1) X(2) MEET(DOT, 0, 0, t0) MEET(DOT, 2, 1, t0) W(t0) MEET(DOT, 0, 1, t1)          \
  MEET(DOT, 2, 2, t1) W(t1) MEET(DOT, 1, 0, t0) LAST_X(0) MEET(DOT, 3, 1, t0) W(t0) MEET(DOT, 1, 1, t1) \
  MEET(DOT, 3, 2, t1) MEET(DOT, 1, 2, t0) MEET_A(DOT, 3, 0, t0) XP_LOOP_END MEET_B(DOT, 3, 0, t0)

/* Pairs of rows below each other. */
#define COPY(r) "addi %[" #r "],%[bias],0\n"
#define PUT(o, at) "sw %[a" #o "]," #at "(%[to])\nsw %[b" #o "]," #at "(%[below])\n"
#define PAIRS(ROW)                                                                                        \
  XP_BEGIN XP_OUTER_LOOP("%[t0]") COPY(a0) COPY(a1) COPY(a2) COPY(a3) COPY(b0) COPY(b1) COPY(b2) COPY(b3) \
  XP_LOOP("%[n]") ROW PUT(1, 4) PUT(2, 8) PUT(3, 12) XP_SWR("%[a0]", "%[tostep]", "%[to]")                \
  XP_SWR("%[b0]", "%[tostep]", "%[below]") "sub %[pa],%[pa],%[back]\nsub %[pb],%[pb],%[back]\n"           \
  XP_OUTER_LOOP_END "sub %[w],%[w],%[wback]\n" XP_END

/* Four columns at a time, the last ones first: sums behind a row are then written over by its neighbour's first ones. The
 * last row, if it has no partner, is computed twice. WORDS: what the windows of four neighbouring outputs reach over. */
#define FUNCTION(name, ROW, WORDS, STRIDE)                                                                   \
  static void name(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows) {                \
    const uint32_t height = p->args->kernel_height, step = p->row_step - 4u * (WORDS - 1u);                  \
    const uint32_t back = height * p->row_step - 2u * p->next, weight_back = height * p->weight_bytes;       \
    const uint32_t width = p->sum_width, pairs = rows->count >> 1;                                           \
    const int32_t *bias_at = p->args->bias + rows->channel;                                                  \
    const int8_t *w = rows->weight;                                                                          \
    const uint8_t *x = rows->x;                                                                              \
    int32_t *sums = rows->sums;                                                                              \
    uint32_t same = p->args->multiplier;                                                                     \
    for (uint32_t channels = rows->channels;;) {                                                             \
      const int32_t bias = *bias_at++;                                                                       \
      for (uint32_t column = (width - 1u) & ~3u;; column -= 4u) {                                            \
        const uint8_t *pa = x + STRIDE * column, *pb = pa + p->next;                                         \
        int32_t *to = sums + column, *below = to + width;                                                    \
        int32_t a0, a1, a2, a3, b0, b1, b2, b3, xa0, xb0, t0 = (int32_t)pairs, t1;                           \
        XP_SCRATCH_VALUE xa1, xb1, xa2, xb2;                                                                 \
        for (uint32_t is_odd = pairs == 0u;; is_odd = 1u) {                                                  \
          if (is_odd) pb = pa, below = to, t0 = 1;                                                           \
          __asm__ volatile(PAIRS(ROW)                                                                        \
                           : XP_FOUR("=&r", a), XP_FOUR("=&r", b), [pa] "+r"(pa), [pb] "+r"(pb),             \
                             [w] "+r"(w), [to] "+r"(to), [below] "+r"(below), [t0] "+r"(t0), [t1] "=&r"(t1), \
                             [xa0] "=&r"(xa0), [xb0] "=&r"(xb0) XP_SCRATCH_OPERANDS(                         \
                               [xa1] "=&r"(xa1), [xb1] "=&r"(xb1), [xa2] "=&r"(xa2), [xb2] "=&r"(xb2))       \
                           : [n] "r"(height), [step] "r"(step), [back] "r"(back), [wback] "r"(weight_back),  \
                             [tostep] "r"(8u * width), [bias] "r"(bias)                                      \
                           : "memory" XP_SCRATCH_REGISTERS(XA1, XB1, XA2, XB2));                             \
          if (is_odd || !(rows->count & 1u)) break;                                                          \
        }                                                                                                    \
        if (column == 0u) break;                                                                             \
      }                                                                                                      \
      if (--channels == 0u) return;                                                                          \
      w += weight_back;                                                                                      \
      sums += rows->count * width;                                                                           \
      if (--same == 0u) same = p->args->multiplier, x += p->args->plane_stride;                              \
    }                                                                                                        \
  }
FUNCTION(signed_five, FIVE(XP_SDOTSP), 2u, 1u)
FUNCTION(unsigned_five, FIVE(XP_SDOTUSP), 2u, 1u)
FUNCTION(signed_seven, SEVEN(XP_SDOTSP), 3u, 1u)
FUNCTION(unsigned_seven, SEVEN(XP_SDOTUSP), 3u, 1u)
FUNCTION(signed_strided_six, STRIDED_SIX(XP_SDOTSP), 3u, 2u)
FUNCTION(unsigned_strided_six, STRIDED_SIX(XP_SDOTUSP), 3u, 2u)
FUNCTION(signed_strided_eight, STRIDED_EIGHT(XP_SDOTSP), 4u, 2u)
FUNCTION(unsigned_strided_eight, STRIDED_EIGHT(XP_SDOTUSP), 4u, 2u)

tvm_pulp_rows tvm_pulp_depthwise_wide_sums(const struct tvm_pulp_depthwise_conv2d_args *args) {
  uint32_t is_unsigned = args->x_type == TVM_PULP_UINT8;
  if (!tvm_pulp_has_moved_rows(args->kernel_width, args->stride_x)) return 0;
  if (args->stride_x == 1u) {
    if (args->kernel_width == 5u) return is_unsigned ? unsigned_five : signed_five;
    return is_unsigned ? unsigned_seven : signed_seven;
  }
  if (args->kernel_width <= 6u) return is_unsigned ? unsigned_strided_six : signed_strided_six;
  return is_unsigned ? unsigned_strided_eight : signed_strided_eight;
}
