/* SPDX-License-Identifier: Apache-2.0
 *
 * Floats as bit patterns; private to this folder. */
#ifndef TVM_PULP_FLOAT_BITS_H
#define TVM_PULP_FLOAT_BITS_H

#include <stdint.h>

#define FLOAT_SIGN 0x80000000u
#define FLOAT_INFINITY_BITS 0x7f800000u
#define FLOAT_ONE_BITS 0x3f800000u
#define FLOAT_MANTISSA_BITS 23
#define FLOAT_BIAS 127

union float_bits {
  float value;
  uint32_t bits;
};

static inline uint32_t bits_of(float value) {
  union float_bits both = {.value = value};
  return both.bits;
}

static inline float float_of(uint32_t bits) {
  union float_bits both = {.bits = bits};
  return both.value;
}

static inline uint32_t magnitude_bits(float value) { return bits_of(value) & ~FLOAT_SIGN; }

static inline int is_nan(float value) { return magnitude_bits(value) > FLOAT_INFINITY_BITS; }

static inline float with_sign_of(float magnitude, float sign) {
  return float_of(magnitude_bits(magnitude) | (bits_of(sign) & FLOAT_SIGN));
}

/* 2 to the power of an exponent in -126..127. */
static inline float power_of_two(int32_t exponent) {
  return float_of((uint32_t)(exponent + FLOAT_BIAS) << FLOAT_MANTISSA_BITS);
}

#endif /* TVM_PULP_FLOAT_BITS_H */
