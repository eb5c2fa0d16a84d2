/* SPDX-License-Identifier: Apache-2.0
 *
 * Power: x^y = 2^(y * log2(x)).
 *
 * The product can be as large as 128 and every bit of its fraction counts, so the logarithm needs about 40 bits.
 * Double arithmetic gives them. The cores emulate it, so this is by far the slowest function of the folder: where the
 * exponent is a constant such as 2 or 1/2, emit a product or a square root instead. */
#include "float_bits.h"
#include "tvm_pulp_math.h"

#define SQRT_HALF_BITS 0x3f3504f3u

union double_bits {
  double value;
  uint64_t bits;
};

/* log2 of a positive finite float. */
static double log2_of(float x) {
  int32_t k = 0;
  uint32_t bits = bits_of(x);
  if (bits < 0x00800000u) {
    k = -25;
    bits = bits_of(x * 0x1p25f);
  }
  uint32_t shifted = bits + (FLOAT_ONE_BITS - SQRT_HALF_BITS);
  k += (int32_t)(shifted >> FLOAT_MANTISSA_BITS) - FLOAT_BIAS;
  double m = (double)float_of((shifted & 0x007fffffu) + SQRT_HALF_BITS);
  /* ln(m) = 2 artanh(s); with s^2 below 0.0295 the series is cut at 2^-50. */
  double s = (m - 1.0) / (m + 1.0);
  double z = s * s;
  double p = 0.0;
  for (int32_t odd = 19; odd >= 1; odd -= 2) p = p * z + 1.0 / (double)odd;
  return (double)k + 2.0 * s * p * 0x1.71547652b82fep+0; /* 1 / ln(2) */
}

/* 2^t for t between -151 and 129. */
static float exp2_of(double t) {
  int32_t n = (int32_t)(t + (t < 0.0 ? -0.5 : 0.5));
  double r = (t - (double)n) * 0x1.62e42fefa39efp-1; /* ln(2) */
  double p = 1.0;
  for (int32_t term = 11; term >= 1; --term) p = 1.0 + p * r / (double)term;
  union double_bits scale = {.bits = (uint64_t)(n + 1023) << 52};
  return (float)(p * scale.value);
}

/* 0: y is not a whole number, 1: odd, 2: even. */
static int whole_number_kind(float y) {
  uint32_t magnitude = magnitude_bits(y);
  int32_t exponent = (int32_t)(magnitude >> FLOAT_MANTISSA_BITS) - FLOAT_BIAS;
  if (exponent > FLOAT_MANTISSA_BITS) return 2;
  if (tvm_pulp_truncf(y) != y) return 0;
  if (exponent < 0) return 2; /* zero */
  uint32_t mantissa = (magnitude & 0x007fffffu) | 0x00800000u;
  return ((mantissa >> (FLOAT_MANTISSA_BITS - exponent)) & 1u) != 0u ? 1 : 2;
}

float tvm_pulp_powf(float x, float y) {
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (is_nan(x) || is_nan(y)) return x + y;

  uint32_t magnitude = magnitude_bits(x);
  uint32_t y_magnitude = magnitude_bits(y);
  int kind = whole_number_kind(y);
  uint32_t sign = kind == 1 ? bits_of(x) & FLOAT_SIGN : 0u;
  if (y_magnitude == FLOAT_INFINITY_BITS) {
    if (magnitude == FLOAT_ONE_BITS) return 1.0f;
    return (magnitude > FLOAT_ONE_BITS) == (y > 0.0f) ? float_of(FLOAT_INFINITY_BITS) : 0.0f;
  }
  if (magnitude == 0u || magnitude == FLOAT_INFINITY_BITS) {
    return float_of(sign | ((magnitude == 0u) == (y > 0.0f) ? 0u : FLOAT_INFINITY_BITS));
  }
  if ((bits_of(x) & FLOAT_SIGN) != 0u && kind == 0) return float_of(0x7fc00000u);

  double t = (double)y * log2_of(float_of(magnitude));
  if (t >= 128.0) return float_of(sign | FLOAT_INFINITY_BITS);
  if (t < -150.5) return float_of(sign);
  return float_of(sign | bits_of(exp2_of(t)));
}
