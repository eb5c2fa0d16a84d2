/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of the softmax with tabulated exponentials, on one row of bytes. */
#ifndef TVM_PULP_SOFTMAX_ROW_H
#define TVM_PULP_SOFTMAX_ROW_H

#include "four_elements.h"
#include "reciprocal.h"

/* Largest byte of a row, starting from `best`. */
#define TVM_PULP_ROW_MAXIMUM(name, type, MAX4, lane_max)                                                      \
  static inline int32_t name(const type *x, uint32_t count) {                                                 \
    int32_t best = tvm_pulp_xp_word(x), other = best, first, second;                                          \
    uint32_t n = count >> 3, i = n << 3;                                                                      \
    if (count < 4u) {                                                                                         \
      int32_t small = x[0];                                                                                   \
      for (i = 1; i < count; ++i) small = tvm_pulp_xp_max(small, x[i]);                                       \
      return small;                                                                                           \
    }                                                                                                         \
    const type *p = x;                                                                                        \
    if (n) {                                                                                                  \
      __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[f]", 4, "%[p]") XP_LW("%[g]", 4, "%[p]")             \
                           MAX4("%[b]", "%[b]", "%[f]") XP_LOOP_END MAX4("%[o]", "%[o]", "%[g]") XP_END       \
                       : [p] "+r"(p), [b] "+r"(best), [o] "+r"(other), [f] "=&r"(first), [g] "=&r"(second)    \
                       : [n] "r"(n)                                                                           \
                       : "memory");                                                                           \
      best = lane_max(best, other);                                                                           \
    }                                                                                                         \
    if (count & 4u) best = lane_max(best, tvm_pulp_xp_word(x + i));                                           \
    /* The last word again, reaching back. */                                                                 \
    best = lane_max(best, tvm_pulp_xp_word(x + count - 4u));                                                  \
    best = lane_max(best, (int32_t)((uint32_t)best >> 16 | (uint32_t)best << 16));                            \
    return tvm_pulp_xp_max((type)best, (type)((uint32_t)best >> 8));                                          \
  }
TVM_PULP_ROW_MAXIMUM(tvm_pulp_maximum_signed, int8_t, XP_MAX4, tvm_pulp_xp_max4)
TVM_PULP_ROW_MAXIMUM(tvm_pulp_maximum_unsigned, uint8_t, XP_MAXU4, tvm_pulp_xp_maxu4)

/* The largest byte of a word. */
static inline uint32_t tvm_pulp_largest_byte(int32_t word) {
  word = tvm_pulp_xp_maxu4(word, (int32_t)((uint32_t)word >> 16));
  return (uint32_t)tvm_pulp_xp_max(word & 0xff, word >> 8 & 0xff);
}

/* Four logits, 128 added to each: less what a mask takes, down to 0, and what it gives added, up to 255. */
static inline int32_t tvm_pulp_masked(int32_t word, const int8_t *mask) {
  int32_t values = tvm_pulp_xp_word(mask), gain = tvm_pulp_xp_max4(values, 0), drop = tvm_pulp_xp_sub4(gain, values);
  word = tvm_pulp_xp_sub4(word, tvm_pulp_xp_minu4(drop, word));
  return tvm_pulp_xp_add4(word, tvm_pulp_xp_minu4(gain, ~word));
}

/* Exponentials (plus one each) of a row into `e`, and their sum. `table` is shifted by the row's maximum. */
#define TVM_PULP_EXPONENTIALS(name, type, LOAD)                                                                \
  static inline uint32_t name(const type *x, uint32_t count, const uint32_t *table, uint32_t *e) {            \
    uint32_t sum = 0, v0, v1, v2, v3, n = count >> 2;                                                         \
    if (n) {                                                                                                  \
      __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(LOAD, 1, "%[x]")                                    \
                       "slli %[v0],%[v0],2\nslli %[v1],%[v1],2\nslli %[v2],%[v2],2\nslli %[v3],%[v3],2\n"     \
                       FOUR(XP_LWX, "%[t]")                                                                   \
                       "add %[s],%[s],%[v0]\n" XP_SW("%[v0]", 4, "%[e]") "add %[s],%[s],%[v1]\n"              \
                       XP_SW("%[v1]", 4, "%[e]") "add %[s],%[s],%[v2]\n" XP_SW("%[v2]", 4, "%[e]")            \
                       "add %[s],%[s],%[v3]\n" XP_LOOP_END XP_SW("%[v3]", 4, "%[e]") XP_END                   \
                       : [x] "+r"(x), [e] "+r"(e), [s] "+r"(sum), FOUR_VALUES                                 \
                       : [n] "r"(n), [t] "r"(table)                                                           \
                       : "memory");                                                                           \
    }                                                                                                         \
    for (uint32_t i = 0; i < (count & 3u); ++i) {                                                             \
      e[i] = table[x[i]];                                                                                     \
      sum += e[i];                                                                                            \
    }                                                                                                         \
    return sum;                                                                                               \
  }
TVM_PULP_EXPONENTIALS(tvm_pulp_exponentials_signed, int8_t, XP_LB)
TVM_PULP_EXPONENTIALS(tvm_pulp_exponentials_unsigned, uint8_t, XP_LBU)

/* The same of a row of either type; the last entry of `table` is that of the row's maximum. */
static inline uint32_t tvm_pulp_exponentials(const uint8_t *x, uint32_t type, uint32_t count, const uint32_t *table,
                                             uint32_t *e) {
  const int8_t *s = (const int8_t *)x;
  if (type == TVM_PULP_INT8) {
    return tvm_pulp_exponentials_signed(s, count, table + 255 - tvm_pulp_maximum_signed(s, count), e);
  }
  return tvm_pulp_exponentials_unsigned(x, count, table + 255 - tvm_pulp_maximum_unsigned(x, count), e);
}

/* Inverse of an odd number modulo 2^32: exact division by multiplication. */
static inline uint32_t tvm_pulp_exact_inverse(uint32_t odd) {
  uint32_t inverse = 3u * odd ^ 2u;
  for (uint32_t i = 0; i < 3u; ++i) inverse *= 2u - odd * inverse;
  return inverse;
}

/* Results from the exponentials: y = (e - 1) / total. */
static inline void tvm_pulp_normalize(const uint32_t *e, uint8_t *y, uint32_t count, struct tvm_pulp_reciprocal r) {
  uint32_t v0, v1, v2, v3, n = count >> 2;
  if (n) {
    __asm__ volatile(
        XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(XP_LW, 4, "%[e]") "mulhu %[v0],%[v0],%[m]\nmulhu %[v1],%[v1],%[m]\n"
        "mulhu %[v2],%[v2],%[m]\nmulhu %[v3],%[v3],%[m]\nsrl %[v0],%[v0],%[s]\nsrl %[v1],%[v1],%[s]\n"
        "srl %[v2],%[v2],%[s]\nsrl %[v3],%[v3],%[s]\n" FOUR_STORE XP_END
        : [e] "+r"(e), [y] "+r"(y), FOUR_VALUES
        : [n] "r"(n), [m] "r"(r.multiplier), [s] "r"(r.shift)
        : "memory");
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = (uint8_t)(tvm_pulp_high_word(e[i], r.multiplier) >> r.shift);
}

#endif /* TVM_PULP_SOFTMAX_ROW_H */
