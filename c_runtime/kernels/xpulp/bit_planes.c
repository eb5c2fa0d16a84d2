/* SPDX-License-Identifier: Apache-2.0
 *
 * Sixteen bytes at a time, as four words with byte j each of four groups: digits of the number j1 j0 of a word and of the
 * number p2 p1 p0 of a bit in its byte change places, three times, and the bytes of a group are brought together. */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

/* A digit of the number of a word, 0 for a and 1 for b, and one of the number of a bit change places. */
#define EXCHANGE(a, b, t, shift, mask)                                                                            \
  "srli " t "," a "," shift "\nxor " t "," t "," b "\nand " t "," t "," mask "\nxor " b "," b "," t "\n"          \
  "slli " t "," t "," shift "\nxor " a "," a "," t "\n"
/* Words p1 j0 with bits p2 j1 p0, then p1 p0 with p2 j1 j0, then p1 p2 with p0 j1 j0. */
#define EXCHANGES(a, b, c, d, t)                                                                                  \
  EXCHANGE(a, c, t, "2", "%[m2]") EXCHANGE(b, d, t, "2", "%[m2]") EXCHANGE(a, b, t, "1", "%[m1]")                  \
  EXCHANGE(c, d, t, "1", "%[m1]") EXCHANGE(a, b, t, "4", "%[m4]") EXCHANGE(c, d, t, "4", "%[m4]")
/* Bytes 0, 1, 2, 3 of words a, b, c, d into d, a, c, t. */
#define TURN(a, b, c, d, t)                                                                                       \
  "mv " t "," a "\n" XP_SHUFFLE2_B(t, b, "%[high]") XP_SHUFFLE2_B(a, b, "%[low]") "mv " b "," c "\n"               \
  XP_SHUFFLE2_B(b, d, "%[high]") XP_SHUFFLE2_B(c, d, "%[low]") XP_PACK_H(d, c, a) XP_SHUFFLE2_H(a, c, "%[upper]")  \
  XP_PACK_H(c, b, t) XP_SHUFFLE2_H(t, b, "%[upper]")
#define FLIP "xor %[w0],%[w0],%[f]\nxor %[w1],%[w1],%[f]\nxor %[w2],%[w2],%[f]\nxor %[w3],%[w3],%[f]\n"
#define WORDS XP_FOUR("=&r", w), [t] "=&r"(t)
#define CONSTANTS                                                                                                 \
  [f] "r"(args->flip), [m1] "r"(0x55555555), [m2] "r"(0x33333333), [m4] "r"(0x0f0f0f0f), [low] "r"(0x05010400),    \
      [high] "r"(0x07030602), [upper] "r"(0x00030001)

/* One word of `groups` times four rows, as many bytes apart; none of a single row, which then is made four times. */
static void words_of_rows(const struct tvm_pulp_bit_planes_args *args, const uint8_t *x, uint8_t *y, uint32_t groups,
                          uint32_t x_stride, uint32_t y_stride) {
  int32_t w0, w1, w2, w3, t;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[w0]", "%[s]", "%[x]") XP_LWR("%[w1]", "%[s]", "%[x]")
                       XP_LWR("%[w2]", "%[s]", "%[x]") XP_LWR("%[w3]", "%[s]", "%[x]") FLIP
                           TURN("%[w0]", "%[w1]", "%[w2]", "%[w3]", "%[t]")
                               EXCHANGES("%[w3]", "%[w0]", "%[w2]", "%[t]", "%[w1]")
                                   TURN("%[w3]", "%[w2]", "%[w0]", "%[t]", "%[w1]") XP_SWR("%[t]", "%[z]", "%[y]")
                                       XP_SWR("%[w3]", "%[z]", "%[y]") XP_SWR("%[w0]", "%[z]", "%[y]") XP_LOOP_END
                                           XP_SWR("%[w1]", "%[z]", "%[y]") XP_END
                   : [x] "+r"(x), [y] "+r"(y), WORDS
                   : [n] "r"(groups), [s] "r"(x_stride), [z] "r"(y_stride), CONSTANTS
                   : "memory");
}

/* Four columns of all rows; they are rows of x. The last one stands for those that are not there. */
static void four_columns(const struct tvm_pulp_bit_planes_args *args, const uint8_t *x, uint8_t *y, uint32_t columns) {
  const uint32_t stride = args->x_stride;
  const uint8_t *x1 = columns > 1u ? x + stride : x, *x2 = columns > 2u ? x1 + stride : x1, *x3 = columns > 3u ? x2 + stride : x2;
  int32_t w0, w1, w2, w3, t;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w0]", 4, "%[x]") XP_LW("%[w1]", 4, "%[x1]")
                       XP_LW("%[w2]", 4, "%[x2]") XP_LW("%[w3]", 4, "%[x3]") FLIP
                           EXCHANGES("%[w0]", "%[w1]", "%[w2]", "%[w3]", "%[t]")
                               TURN("%[w0]", "%[w2]", "%[w1]", "%[w3]", "%[t]") XP_SWR("%[w3]", "%[z]", "%[y]")
                                   XP_SWR("%[w0]", "%[z]", "%[y]") XP_SWR("%[w1]", "%[z]", "%[y]") XP_LOOP_END
                                       XP_SWR("%[t]", "%[z]", "%[y]") XP_END
                   : [x] "+r"(x), [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3), [y] "+r"(y), WORDS
                   : [n] "r"(args->rows >> 2), [z] "r"(args->y_stride), CONSTANTS
                   : "memory");
}

static void clear(uint8_t *y, uint32_t stride, uint32_t rows) {
  if (rows == 0u) return;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "nop\n" XP_LOOP_END XP_SWR("x0", "%[z]", "%[y]") XP_END
                   : [y] "+r"(y)
                   : [n] "r"(rows), [z] "r"(stride)
                   : "memory");
}

/* Groups of four rows of one matrix from `x` on, and rows that are left. */
static void straight(const struct tvm_pulp_bit_planes_args *args, const uint8_t *x, uint8_t *y, uint32_t rows) {
  uint32_t whole = rows >> 2, depth = args->depth;
  for (uint32_t at = 0; at < args->y_stride; at += 4u) {
    if (at >= depth) {
      clear(y + at, args->y_stride, rows);
      continue;
    }
    if (whole) words_of_rows(args, x + at, y + at, whole, args->x_stride, args->y_stride);
    for (uint32_t row = 4u * whole; row < rows; ++row) {
      words_of_rows(args, x + row * args->x_stride + at, y + row * args->y_stride + at, 1, 0, 0);
    }
  }
}

/* Groups of four columns of one matrix, and columns that are left. */
static void turned(const struct tvm_pulp_bit_planes_args *args, const uint8_t *x, uint8_t *y, uint32_t columns) {
  for (; columns > 3u; columns -= 4u, x += 4u * args->x_stride, y += 4) four_columns(args, x, y, 4);
  if (columns) {
    four_columns(args, x, y, columns);
    uint32_t kept = 0x11111111u * ((1u << columns) - 1u), word;
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "lw %[w],0(%[y])\nand %[w],%[w],%[k]\n" XP_LOOP_END
                         XP_SWR("%[w]", "%[z]", "%[y]") XP_END
                     : [y] "+r"(y), [w] "=&r"(word)
                     : [n] "r"(args->rows), [z] "r"(args->y_stride), [k] "r"(kept)
                     : "memory");
  }
}

TVM_PULP_KERNEL(bit_planes) {
  uint32_t length = args->turned ? args->depth : args->rows, each = (length + 3u) >> 2;
  struct tvm_pulp_range range = tvm_pulp_share(args->matrices * each, core, cores);
  uint32_t matrix = range.begin / each, group = range.begin - matrix * each, left = range.end - range.begin;
  for (; left > 0u; ++matrix, group = 0) {
    uint32_t groups = each - group < left ? each - group : left, last = group + groups == each;
    uint32_t count = last ? length - 4u * group : 4u * groups;
    const uint8_t *x = args->x + matrix * args->x_matrix_stride + 4u * group * args->x_stride;
    uint8_t *y = args->y + matrix * args->rows * args->y_stride;
    if (args->turned) {
      turned(args, x, y + 4u * group, count);
      for (uint32_t at = 4u * each; last && at < args->y_stride; at += 4u) clear(y + at, args->y_stride, args->rows);
    } else {
      straight(args, x, y + 4u * group * args->y_stride, count);
    }
    left -= groups;
  }
}
