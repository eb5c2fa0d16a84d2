/* SPDX-License-Identifier: Apache-2.0
 *
 * Division by a number that stays the same for a while: multiply by a 32-bit reciprocal, take the high word, shift. */
#ifndef TVM_PULP_RECIPROCAL_H
#define TVM_PULP_RECIPROCAL_H

#include <stdint.h>

#include "tvm_pulp/xpulp.h"

TVM_PULP_XP uint32_t tvm_pulp_high_word(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }

/* (high * 2^32 + low) / divisor, where high < divisor and divisor >= 2^31. Two digits of 16 bits; a hardware division
 * by a 16-bit number takes 19 cycles. */
static inline uint32_t tvm_pulp_divide_long(uint32_t high, uint32_t low, uint32_t divisor) {
  uint32_t top = divisor >> 16, bottom = divisor & 0xffffu, digits[2];
  for (uint32_t i = 0; i < 2u; ++i) {
    uint32_t next = i == 0u ? low >> 16 : low & 0xffffu;
    uint32_t digit = high / top, rest = high - digit * top;
    while (digit > 0xffffu || digit * bottom > (rest << 16 | next)) {
      --digit;
      rest += top;
      if (rest > 0xffffu) break;
    }
    high = (high << 16 | next) - digit * divisor;
    digits[i] = digit;
  }
  return digits[0] << 16 | digits[1];
}

/* n / divisor == ((n + 1) * multiplier >> 32) >> shift for 0 <= n < 2^31; divisor >= 1.
 *
 * The multiplier is floor((2^(32 + shift) - 1) / divisor) with 2^shift <= divisor, so it falls short of the true
 * factor by at most 1, and the product of n + 1 by at most (n + 1) / 2^(32 + shift) <= 1 / divisor: between n and n +
 * 1 divisor-ths. */
struct tvm_pulp_reciprocal {
  uint32_t multiplier;
  uint32_t shift;
};

static inline __attribute__((unused)) struct tvm_pulp_reciprocal tvm_pulp_reciprocal(uint32_t divisor) {
  struct tvm_pulp_reciprocal r;
  r.shift = (uint32_t)tvm_pulp_xp_fl1((int32_t)divisor);
  uint32_t up = 31u - r.shift;
  r.multiplier = tvm_pulp_divide_long(0x7fffffffu, 0u - (1u << up), divisor << up);
  return r;
}

/* The same for n < 2^27, in a third of the time: a 16-bit reciprocal and one Newton step. The divisor, moved up to 32
 * bits, is d; the multiplier falls short of 2^63 / d by more than 0 and by less than 12, where 2^31 / 2^27 = 16 would
 * do: the first guess is low by at most 1.5 / 2^15 of the whole (the divisor's lower half and the truncated
 * quotient), which the step squares to 2.25 / 2^30, 9 of 2^32, and its two truncations add less than 3. */
static inline struct tvm_pulp_reciprocal tvm_pulp_short_reciprocal(uint32_t divisor) {
  struct tvm_pulp_reciprocal r;
  r.shift = (uint32_t)tvm_pulp_xp_fl1((int32_t)divisor);
  uint32_t d = divisor << (31u - r.shift);
  uint32_t guess = 0xffffffffu / ((d >> 16) + 1u) << 15;
  uint32_t missing = 0x7fffffffu - tvm_pulp_high_word(guess, d);
  r.multiplier = guess + tvm_pulp_high_word(guess, missing << 1);
  return r;
}

/* Reciprocal for numbers that do not exceed `largest`. */
static inline struct tvm_pulp_reciprocal tvm_pulp_reciprocal_up_to(uint32_t largest, uint32_t divisor) {
  return largest < 1u << 27 ? tvm_pulp_short_reciprocal(divisor) : tvm_pulp_reciprocal(divisor);
}

#endif /* TVM_PULP_RECIPROCAL_H */
