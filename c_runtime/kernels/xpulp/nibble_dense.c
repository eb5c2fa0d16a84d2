/* SPDX-License-Identifier: Apache-2.0
 *
 * A byte of weights is 16 * odd + even + 8. Its low four bits are even + 8, so that two products with the same inputs,
 * of the byte as it is and of these bits, give both columns, and the sum of the inputs what the 8 adds: 10 instructions
 * for 16 products, and nobody takes bytes apart. Constants of one for all columns are read as often as others: two ways
 * to end would be more code, which is fetched for every layer. */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

/* Two pairs of columns: a word of each for every word of the row. */
#define TWO_PAIRS(DOT)                                                                                           \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[x]", 4, "%[a]") XP_LW("%[w0]", 4, "%[b]")                   \
                       XP_LW("%[w1]", 4, "%[b]") XP_LOW_4("%[e0]", "%[w0]") DOT("%[v1]", "%[x]", "%[w0]")        \
                           XP_LOW_4("%[e1]", "%[w1]") DOT("%[v0]", "%[x]", "%[e0]") DOT("%[v3]", "%[x]", "%[w1]") \
                               DOT("%[s]", "%[x]", "%[ones]") XP_LOOP_END DOT("%[v2]", "%[x]", "%[e1]") XP_END   \
                   : [a] "+r"(a), [b] "+r"(weight), XP_FOUR_OF("+r", v, v), [s] "+r"(sum), [x] "=&r"(x),         \
                     XP_TWO("=&r", w), XP_TWO("=&r", e)                                                          \
                   : [n] "r"(words), [ones] "r"(0x01010101)                                                      \
                   : "memory")

TVM_PULP_KERNEL(nibble_dense) {
  const struct tvm_pulp_requant *r = &args->requant;
  struct tvm_pulp_range range = tvm_pulp_share(args->columns >> 2, core, cores);
  uint32_t words = args->depth >> 2, first = 4u * range.begin, apart = r->per_channel;
  const int8_t *weight = args->weight + range.begin * (args->depth << 1);
  const int32_t *bias = args->bias, *mul = r->mul + first * apart, *add = r->add + first * apart;
  int32_t shift = r->shift, low = r->low, high = r->high, x, w0, w1, e0, e1;
  uint8_t *y = (uint8_t *)args->y + first;
  for (uint32_t column = first; column != 4u * range.end; column += 4u, y += 4) {
    const int8_t *a = args->x;
    int32_t v[4] = {0, 0, 0, 0}, sum = 0;
    XP_BY_SIGN(args->x_type, TWO_PAIRS(XP_SDOTSP), TWO_PAIRS(XP_SDOTUSP));
    for (uint32_t i = 0; i < 4u; ++i, mul += apart, add += apart) {
      int32_t value = i & 1u ? (v[i] - v[i - 1u]) >> 4 : v[i] - 8 * sum;
      if (bias) value += bias[column + i];
      value = tvm_pulp_xp_add_shift((int32_t)((uint32_t)value * (uint32_t)*mul), *add, shift);
      value = tvm_pulp_xp_min(tvm_pulp_xp_max(value, low), high);
      y[i] = (uint8_t)value;
    }
  }
}
