/* SPDX-License-Identifier: Apache-2.0
 *
 * Remainders of the division x / y: truncated towards zero, exact, with the sign of x; and floored, with that of y. */
#include "float_bits.h"
#include "tvm_pulp_math.h"

/* A nonzero magnitude as a 24-bit integer times 2^(exponent - 150). */
static uint32_t split(uint32_t magnitude, int32_t *exponent) {
  uint32_t mantissa = magnitude & 0x007fffffu;
  *exponent = (int32_t)(magnitude >> FLOAT_MANTISSA_BITS);
  if (*exponent != 0) return mantissa | 0x00800000u;
  *exponent = 1;
  while (mantissa < 0x00800000u) {
    mantissa <<= 1;
    *exponent -= 1;
  }
  return mantissa;
}

float tvm_pulp_fmodf(float x, float y) {
  uint32_t dividend = magnitude_bits(x);
  uint32_t divisor = magnitude_bits(y);
  if (is_nan(x) || is_nan(y)) return x + y;
  if (divisor == 0u || dividend == FLOAT_INFINITY_BITS) return float_of(0x7fc00000u);
  if (dividend < divisor) return x;

  int32_t exponent;
  int32_t divisor_exponent;
  uint32_t remainder = split(dividend, &exponent);
  uint32_t step = split(divisor, &divisor_exponent);
  /* Long division, one bit per round; the quotient is not kept. */
  for (; exponent > divisor_exponent; --exponent) {
    if (remainder >= step) remainder -= step;
    remainder <<= 1;
  }
  if (remainder >= step) remainder -= step;
  if (remainder == 0u) return with_sign_of(0.0f, x);

  while (remainder < 0x00800000u) {
    remainder <<= 1;
    exponent -= 1;
  }
  uint32_t bits;
  if (exponent > 0) {
    bits = (remainder & 0x007fffffu) | ((uint32_t)exponent << FLOAT_MANTISSA_BITS);
  } else {
    bits = remainder >> (1 - exponent); /* subnormal: exact, because x and y are multiples of the smallest one */
  }
  return with_sign_of(float_of(bits), x);
}

float tvm_pulp_modulof(float x, float y) {
  float rest = tvm_pulp_fmodf(x, y);
  if (is_nan(rest)) return rest;
  if (magnitude_bits(rest) == 0u) return with_sign_of(rest, y);
  return ((bits_of(rest) ^ bits_of(y)) & FLOAT_SIGN) != 0u ? rest + y : rest;
}
