/* SPDX-License-Identifier: Apache-2.0
 *
 * One channel at a time, so that its constants stay in registers. */
#include "to_even.h"

#include "four_elements.h"
#include "requantize_block.h"

/* A shift above 32 concerns the high word of the product alone. The zero point is part of the summand. Two elements a
 * turn, because the high word of a product is late. */
#define ROUND_LOOP(LOW_WORDS, CARRY, CLIP)                                                                      \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]")                                                                     \
                   XP_LWR("%[v0]", "%[as]", "%[acc]") XP_LWR("%[v1]", "%[as]", "%[acc]") LOW_WORDS              \
                   "mulh %[v0],%[v0],%[m]\nmulh %[v1],%[v1],%[m]\n" CARRY                                       \
                   XP_ADDNR("%[v0]", "%[a]", "%[sh]") XP_ADDNR("%[v1]", "%[a]", "%[sh]")                        \
                   CLIP("%[v0]", "%[v0]", "%[h]") CLIP("%[v1]", "%[v1]", "%[h]")                                \
                   XP_SBR("%[v0]", "%[ys]", "%[y]") XP_LOOP_END XP_SBR("%[v1]", "%[ys]", "%[y]") XP_END         \
                   : [acc] "+r"(s->acc), [y] "+r"(s->y), XP_TWO("=&r", v), XP_TWO("=&r", w), XP_TWO("=&r", b)   \
                   : [n] "r"(pairs), [m] "r"(mul), [as] "r"(4u * s->acc_step), [ys] "r"(s->y_step), [a] "r"(add), \
                     [sh] "r"(right), [h] "r"(s->high)                                                          \
                   : "memory")

/* With n = 32 + right bits to shift out, halves to even are (product + 2^(n - 1) - 1 + bit n) >> n. In words: what the
 * low word carries is one unless it and the bit are zero. */
#define LOW_WORDS "mul %[w0],%[v0],%[m]\nmul %[w1],%[v1],%[m]\n"
#define UNLESS_EVEN                                                                                         \
  "srl %[b0],%[v0],%[sh]\nsrl %[b1],%[v1],%[sh]\nandi %[b0],%[b0],1\nandi %[b1],%[b1],1\n"                 \
  "or %[w0],%[w0],%[b0]\nor %[w1],%[w1],%[b1]\nsnez %[w0],%[w0]\nsnez %[w1],%[w1]\n"                       \
  "add %[v0],%[v0],%[w0]\nadd %[v1],%[v1],%[w1]\n"

static void round_pairs(struct tvm_pulp_strip *s, uint32_t pairs, int32_t mul, int32_t right, uint32_t is_to_even) {
  int32_t add = (1 << (right - 1)) - (int32_t)is_to_even + (int32_t)((uint32_t)s->zero_point << right);
  int32_t v0, v1, w0, w1, b0, b1;
  if (!is_to_even) {
    FOUR_BY_RANGE(s, ROUND_LOOP("", "", XP_CLIPUR), ROUND_LOOP("", "", XP_CLIPR));
  } else {
    FOUR_BY_RANGE(s, ROUND_LOOP(LOW_WORDS, UNLESS_EVEN, XP_CLIPUR), ROUND_LOOP(LOW_WORDS, UNLESS_EVEN, XP_CLIPR));
  }
}

void tvm_pulp_half_even_columns(const struct tvm_pulp_requantize_args *args, uint32_t first, uint32_t step) {
  const struct tvm_pulp_requant *r = &args->requant;
  for (uint32_t column = first; column < args->columns; column += step) {
    const int32_t *acc = (const int32_t *)args->x + column;
    int32_t mul = r->mul[column], right = r->add[column] - 32;
    uint32_t done = 0;
    /* A shift that leaves room for the zero point. */
    if (right > 0 && right <= 20) {
      uint8_t *y = (uint8_t *)args->y + column;
      struct tvm_pulp_strip s = {acc, args->x_stride / 4u, y, args->y_stride, r->zero_point, r->low, r->high};
      /* Where a bit of the multiplier lies below those that remain of 32, no accumulator makes a half. */
      round_pairs(&s, args->rows >> 1, mul, right, ((uint32_t)mul & ((1u << right) - 1u)) == 0u);
      done = args->rows & ~1u;
    }
    if (done < args->rows) {
      tvm_pulp_requantize_columns(r, acc + done * (args->x_stride / 4u), args->x_stride / 4u, args->rows - done, 1, 1,
                                  (uint8_t *)args->y + done * args->y_stride, args->y_stride, column);
    }
  }
}
