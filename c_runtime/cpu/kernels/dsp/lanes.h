/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of pixels for cores that multiply two pairs of 16 bits at once: of four neighbouring values the first and
 * third are a word, the second and fourth the next. Words of two pixels take turns. */
#ifndef TVM_PULP_LANES_H
#define TVM_PULP_LANES_H

#include <arm_acle.h>
#include <stdint.h>

#include "rule.h"

enum { TVM_PULP_PIXELS = 2, TVM_PULP_CHANNELS = 4, TVM_PULP_DEPTH = 4 };

typedef uint32_t __attribute__((may_alias)) tvm_pulp_lane; /* two values */
typedef uint32_t __attribute__((may_alias, aligned(1))) tvm_pulp_word;

TVM_PULP_INLINE uint32_t tvm_pulp_even(uint32_t word, int32_t is_unsigned) {
  return is_unsigned ? (uint32_t)__uxtb16(word) : (uint32_t)__sxtb16(word);
}

TVM_PULP_INLINE uint32_t tvm_pulp_odd(uint32_t word, int32_t is_unsigned) {
  return tvm_pulp_even(word >> 8 | word << 24, is_unsigned);
}

TVM_PULP_INLINE void tvm_pulp_put_lanes(tvm_pulp_lane *lane, int32_t apart, const void *values, int32_t count,
                                        int32_t is_unsigned) {
  const tvm_pulp_word *word = values;
#pragma GCC unroll 4
  for (int32_t i = 0; i < count / 4; i++) {
    lane[2 * apart * i] = tvm_pulp_even(word[i], is_unsigned);
    lane[2 * apart * i + apart] = tvm_pulp_odd(word[i], is_unsigned);
  }
}

/* Puts values, four or a multiple, of a pixel of a block into a patch of a depth, from a place on. */
TVM_PULP_INLINE void tvm_pulp_put(tvm_pulp_lane *patch, int32_t pixel, int32_t place, int32_t depth, const void *values,
                                  int32_t count, int32_t is_unsigned) {
  (void)depth;
  tvm_pulp_put_lanes(patch + place + pixel, TVM_PULP_PIXELS, values, count, is_unsigned);
}

/* Alone, a pixel's words follow each other. */
#define TVM_PULP_PUT_ONE
TVM_PULP_INLINE void tvm_pulp_put_one(tvm_pulp_lane *patch, const void *values, int32_t count, int32_t is_unsigned) {
  tvm_pulp_put_lanes(patch, 1, values, count, is_unsigned);
}

/* The rule of product.h. */
TVM_PULP_INLINE int32_t tvm_pulp_scaled(int32_t acc, int32_t shift, int32_t multiply, int32_t add) {
  int32_t value;
  __asm__("smmla %0, %1, %2, %3" : "=r"(value) : "r"(acc << shift), "r"(multiply), "r"(add));
  return value >> 16;
}

TVM_PULP_INLINE int32_t tvm_pulp_saturate(int32_t value, enum tvm_pulp_saturation saturation) {
  if (saturation == TVM_PULP_U8) return (int32_t)__usat(value, 8);
  if (saturation == TVM_PULP_U7) return (int32_t)__usat(value, 7);
  return __ssat(value, 8);
}

/* The result of a sum by its channel's shift, multiply, add and, where a rule rounds numbers below zero in another way,
 * less. */
TVM_PULP_INLINE int8_t tvm_pulp_result(int32_t sum, const int32_t *scale, enum tvm_pulp_saturation saturation) {
  const int32_t shift = scale[0], multiply = scale[1], add = scale[2];
  const int32_t added = saturation == TVM_PULP_S8_AWAY ? add + (scale[3] & sum >> 31) : add;
  return (int8_t)tvm_pulp_saturate(tvm_pulp_scaled(sum, shift, multiply, added), saturation);
}

#endif /* TVM_PULP_LANES_H */
