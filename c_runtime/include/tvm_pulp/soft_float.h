/* SPDX-License-Identifier: Apache-2.0
 *
 * What float.h computes, on the bits of floats by integers: for cores without a float unit, where a product that is
 * added and rounded once takes a thousand instructions as a sum of doubles. */
#ifndef TVM_PULP_SOFT_FLOAT_H
#define TVM_PULP_SOFT_FLOAT_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

#define TVM_PULP_SOFT_SIGN 0x80000000u
#define TVM_PULP_SOFT_INFINITY 0x7f800000u
#define TVM_PULP_SOFT_NOT_A_NUMBER 0x7fc00000u
/* The bit of a sum that is a one where its exponent is the one stated: two summands and a carry fit above it. */
#define TVM_PULP_SOFT_ONE 60

/* A shift to the right whose last bit says whether something fell off: more than that no rounding asks. */
TVM_PULP_INLINE uint64_t tvm_pulp_soft_shift(uint64_t value, int32_t by) {
  if (by == 0) return value;
  if (by > 63) return value != 0u;
  return value >> by | (uint64_t)(value << (64 - by) != 0u);
}

/* The mantissa with its leading one at bit 23, and its exponent; of what is neither zero nor infinite. */
TVM_PULP_INLINE uint32_t tvm_pulp_soft_mantissa(uint32_t bits, int32_t *exponent) {
  uint32_t mantissa = bits & 0x7fffffu;
  *exponent = (int32_t)(bits >> 23 & 0xffu);
  if (__builtin_expect(*exponent != 0, 1)) return mantissa | 0x800000u;
  for (*exponent = 1; mantissa < 0x800000u; --*exponent) mantissa <<= 1;
  return mantissa;
}

/* A magnitude above zero as a float, half to even. */
TVM_PULP_INLINE uint32_t tvm_pulp_soft_rounded(uint32_t sign, uint64_t magnitude, int32_t exponent) {
  uint32_t upper = (uint32_t)(magnitude >> 32);
  int32_t leading = TVM_PULP_SOFT_ONE;
  if (__builtin_expect(upper >> (TVM_PULP_SOFT_ONE - 32) == 0u, 0)) {
    leading = 63 - __builtin_clzll(magnitude);
  } else {
    leading += (upper >> (TVM_PULP_SOFT_ONE - 31) != 0u) + (upper >> (TVM_PULP_SOFT_ONE - 30) != 0u);
  }
  /* The bit that becomes the last one; below the smallest ordinary number it stays where it is there. */
  int32_t last = leading - 23, least = TVM_PULP_SOFT_ONE - 22 - exponent;
  if (last < least) last = least;
  if (last > 63) return sign;
  uint32_t mantissa = last > 0 ? (uint32_t)(magnitude >> last) : (uint32_t)(magnitude << -last);
  if (last > 0) {
    const uint64_t rest = magnitude << (64 - last), half = (uint64_t)1 << 63;
    mantissa += (uint32_t)(rest > half) | ((uint32_t)(rest == half) & mantissa & 1u);
  }
  int32_t field = last - least;
  if (field >= 254) return sign | TVM_PULP_SOFT_INFINITY;
  /* The leading one of the mantissa, and one that rounding carries further, count the exponent up. */
  return sign | (((uint32_t)field << 23) + mantissa);
}

/* a * b + c where one factor is zero or a number is infinite or none. */
static __attribute__((noinline, unused)) uint32_t tvm_pulp_soft_fma_special(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t infinite = TVM_PULP_SOFT_INFINITY << 1, x = a << 1, y = b << 1, z = c << 1;
  const uint32_t sign = (a ^ b) & TVM_PULP_SOFT_SIGN;
  if (x > infinite || y > infinite || z > infinite) return TVM_PULP_SOFT_NOT_A_NUMBER;
  if (x == infinite || y == infinite) {
    if (x == 0u || y == 0u || (z == infinite && c != (sign | TVM_PULP_SOFT_INFINITY))) return TVM_PULP_SOFT_NOT_A_NUMBER;
    return sign | TVM_PULP_SOFT_INFINITY;
  }
  return z == 0u ? sign & c : c;
}

/* a * b + c, rounded once. */
static __attribute__((noinline, unused)) uint32_t tvm_pulp_soft_fma(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t infinite = TVM_PULP_SOFT_INFINITY << 1;
  /* Less one, zeros are the largest of all. */
  if (__builtin_expect((a << 1) - 1u >= infinite - 1u || (b << 1) - 1u >= infinite - 1u || c << 1 >= infinite, 0)) {
    return tvm_pulp_soft_fma_special(a, b, c);
  }
  int32_t exponent_a, exponent_b, exponent_c = (int32_t)(c >> 23 & 0xffu);
  const uint32_t mantissa_a = tvm_pulp_soft_mantissa(a, &exponent_a);
  const uint32_t mantissa_b = tvm_pulp_soft_mantissa(b, &exponent_b);
  const uint32_t sign = (a ^ b) & TVM_PULP_SOFT_SIGN;
  uint32_t mantissa_c = c & 0x7fffffu;
  if (exponent_c == 0) {
    exponent_c = 1;
  } else {
    mantissa_c |= 0x800000u;
  }
  uint64_t product = ((uint64_t)mantissa_a * mantissa_b) << (TVM_PULP_SOFT_ONE - 46);
  int32_t exponent = exponent_a + exponent_b - 127, apart = exponent - exponent_c;
  if (mantissa_c == 0u) return tvm_pulp_soft_rounded(sign, product, exponent);
  uint64_t summand = (uint64_t)mantissa_c << (TVM_PULP_SOFT_ONE - 23);
  if (apart >= 0) {
    summand = tvm_pulp_soft_shift(summand, apart);
  } else {
    product = tvm_pulp_soft_shift(product, -apart);
    exponent = exponent_c;
  }
  if (((sign ^ c) & TVM_PULP_SOFT_SIGN) == 0u) return tvm_pulp_soft_rounded(sign, product + summand, exponent);
  if (product == summand) return 0u;
  if (product > summand) return tvm_pulp_soft_rounded(sign, product - summand, exponent);
  return tvm_pulp_soft_rounded(sign ^ TVM_PULP_SOFT_SIGN, summand - product, exponent);
}

/* Bits behind the point of a quotient; a whole number of 17 bits before it is more than any range has. */
#define TVM_PULP_SOFT_FRACTION 13

/* round(x / scale) by the product with the reciprocal, half to even. False where only the quotient can tell: within
 * `unsure` of the middle between two whole numbers, which is more than the reciprocal, the rounding of the quotient and
 * what is cut off can be wrong by, or where one of them is no ordinary number. What is too large for a range of 16
 * bits stays that large. */
TVM_PULP_INLINE int tvm_pulp_soft_round_quotient(uint32_t x, uint32_t reciprocal, int32_t unsure, int32_t *whole) {
  const int32_t exponent = (int32_t)(x >> 23 & 0xffu), exponent_r = (int32_t)(reciprocal >> 23 & 0xffu);
  /* The product of two mantissas has its leading one at bit 30 or 31. */
  const int32_t down = 2 * 127 + 30 - TVM_PULP_SOFT_FRACTION - exponent_r - exponent;
  *whole = 0;
  if (__builtin_expect(exponent == 0xff || exponent_r == 0xff || exponent_r == 0, 0)) return 0;
  if (down > 31) return 1;
  if (__builtin_expect(exponent == 0, 0)) return 0;
  const uint32_t product = (uint32_t)((uint64_t)(x << 8 | 0x80000000u) * (reciprocal << 8 | 0x80000000u) >> 32);
  const uint32_t fixed = (down > 0 ? product >> down : 0x7fffffffu) + (1u << (TVM_PULP_SOFT_FRACTION - 1));
  const uint32_t fraction = (fixed + (uint32_t)unsure) & ((1u << TVM_PULP_SOFT_FRACTION) - 1u);
  if (__builtin_expect(down > 0 && fraction < 2u * (uint32_t)unsure, 0)) return 0;
  const int32_t magnitude = (int32_t)(fixed >> TVM_PULP_SOFT_FRACTION), negative = -(int32_t)(x >> 31);
  *whole = (magnitude ^ negative) - negative;
  return 1;
}

#endif /* TVM_PULP_SOFT_FLOAT_H */
