/* SPDX-License-Identifier: Apache-2.0
 *
 * Rounding to whole numbers; all exact. The sign of zero is kept: floor(-0) is -0, ceil(-0.5) is -0. */
#include "float_bits.h"
#include "tvm_pulp_math.h"

/* From here on every float is a whole number. */
#define TWO_POWER_23 0x1p23f

float tvm_pulp_fabsf(float x) { return float_of(magnitude_bits(x)); }

float tvm_pulp_truncf(float x) {
  uint32_t bits = bits_of(x);
  int32_t exponent = (int32_t)((bits & ~FLOAT_SIGN) >> FLOAT_MANTISSA_BITS) - FLOAT_BIAS;
  if (exponent >= FLOAT_MANTISSA_BITS) return x; /* also infinities and NaNs */
  if (exponent < 0) return float_of(bits & FLOAT_SIGN);
  return float_of(bits & ~(0x007fffffu >> exponent));
}

float tvm_pulp_floorf(float x) {
  float whole = tvm_pulp_truncf(x);
  return whole > x ? whole - 1.0f : whole;
}

float tvm_pulp_ceilf(float x) {
  float whole = tvm_pulp_truncf(x);
  return whole < x ? whole + 1.0f : whole;
}

float tvm_pulp_roundf(float x) {
  float magnitude = tvm_pulp_fabsf(x);
  if (!(magnitude < TWO_POWER_23)) return x;
  float whole = tvm_pulp_truncf(magnitude);
  if (magnitude - whole >= 0.5f) whole += 1.0f;
  return with_sign_of(whole, x);
}

float tvm_pulp_nearbyintf(float x) {
  float magnitude = tvm_pulp_fabsf(x);
  if (!(magnitude < TWO_POWER_23)) return x;
  /* The addition rounds to a whole number, halves to even, as every addition does. */
  float shifted = magnitude + TWO_POWER_23;
  return with_sign_of(shifted - TWO_POWER_23, x);
}
