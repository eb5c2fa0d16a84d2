/* SPDX-License-Identifier: Apache-2.0
 *
 * Natural logarithm: log(2^k * (1 + f)) = k * ln(2) + log(1 + f) with 1 + f between sqrt(1/2) and sqrt(2). */
#include "float_bits.h"
#include "tvm_pulp_math.h"

#define SQRT_HALF_BITS 0x3f3504f3u
#define SMALLEST_NORMAL_BITS 0x00800000u

#define LN2_HIGH 0x1.62e4p-1f /* few bits: its product with any k is exact */
#define LN2_LOW 0x1.7f7d1cp-20f

float tvm_pulp_logf(float x) {
  uint32_t bits = bits_of(x);
  if (is_nan(x) || bits == FLOAT_INFINITY_BITS) return x;
  if ((bits & ~FLOAT_SIGN) == 0u) return -float_of(FLOAT_INFINITY_BITS);
  if ((bits & FLOAT_SIGN) != 0u) return float_of(0x7fc00000u);

  int32_t k = 0;
  if (bits < SMALLEST_NORMAL_BITS) {
    k = -25;
    bits = bits_of(x * 0x1p25f);
  }
  /* Counting from sqrt(1/2) makes the exponent field that of the reduced argument's power of two. */
  uint32_t shifted = bits + (FLOAT_ONE_BITS - SQRT_HALF_BITS);
  k += (int32_t)(shifted >> FLOAT_MANTISSA_BITS) - FLOAT_BIAS;
  float f = float_of((shifted & 0x007fffffu) + SQRT_HALF_BITS) - 1.0f;

  /* log(1 + f) = 2 s + s R(s^2) with s = f / (2 + f), rewritten so that f, which is exact, is the main term. */
  float s = f / (2.0f + f);
  float z = s * s;
  float p = 0x1.f1413p-3f;
  p = p * z + 0x1.23d3cep-2f;
  p = p * z + 0x1.999c26p-2f;
  p = p * z + 0x1.555554p-1f;
  float half_square = 0.5f * f * f;
  float correction = s * (half_square + z * p) + (float)k * LN2_LOW;
  return (float)k * LN2_HIGH - ((half_square - correction) - f);
}
