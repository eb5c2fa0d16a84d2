/* SPDX-License-Identifier: Apache-2.0
 *
 * Square root, correctly rounded: the core's instruction where it has one, else digit by digit in integers. */
#include "float_bits.h"
#include "tvm_pulp_math.h"

#if defined(__riscv_flen)

float tvm_pulp_sqrtf(float x) {
  float result;
  __asm__("fsqrt.s %0, %1" : "=f"(result) : "f"(x));
  return result;
}

#else

float tvm_pulp_sqrtf(float x) {
  uint32_t bits = bits_of(x);
  if (is_nan(x) || (bits & ~FLOAT_SIGN) == 0u || bits == FLOAT_INFINITY_BITS) return x;
  if ((bits & FLOAT_SIGN) != 0u) return float_of(0x7fc00000u);

  int32_t exponent = (int32_t)(bits >> FLOAT_MANTISSA_BITS);
  uint32_t mantissa = bits & 0x007fffffu;
  if (exponent == 0) {
    exponent = 1;
    while (mantissa < 0x00800000u) {
      mantissa <<= 1;
      exponent -= 1;
    }
  }
  mantissa |= 0x00800000u;
  exponent -= FLOAT_BIAS;
  if ((exponent & 1) != 0) mantissa <<= 1; /* now x = mantissa * 2^-23 * 2^(an even exponent) */
  int32_t result_exponent = (exponent - (exponent & 1)) / 2;

  /* root = floor(sqrt(mantissa * 2^25)): 24 bits of result and one for rounding. Two bits of the radicand per step;
   * it has 50 bits, of which the lower 25 are zero. */
  uint32_t root = 0u;
  uint32_t remainder = 0u;
  for (int32_t position = 24; position >= 0; --position) {
    uint32_t pair = position >= 13 ? mantissa >> (2 * position - 25) : position == 12 ? mantissa << 1 : 0u;
    remainder = (remainder << 2) | (pair & 3u);
    uint32_t trial = (root << 2) | 1u;
    root <<= 1;
    if (remainder >= trial) {
      remainder -= trial;
      root |= 1u;
    }
  }
  /* A tie would need a 25-bit root whose square has zeros in its lower 25 bits and an odd last bit: impossible. */
  uint32_t rounded = (root >> 1) + (root & 1u);
  return float_of(((uint32_t)(result_exponent + FLOAT_BIAS) << FLOAT_MANTISSA_BITS) + (rounded - 0x00800000u));
}

#endif

float tvm_pulp_rsqrtf(float x) { return 1.0f / tvm_pulp_sqrtf(x); }
