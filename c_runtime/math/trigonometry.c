/* SPDX-License-Identifier: Apache-2.0
 *
 * Sine and cosine: x = quadrant * pi/2 + r with |r| <= pi/4, for every finite x. */
#include "float_bits.h"
#include "tvm_pulp_math.h"

#define PI_QUARTER_BITS 0x3f490fdbu

/* The binary digits of 2/pi after the point, behind 32 zeros. */
static const uint32_t TWO_OVER_PI[8] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                        0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

/* 32 digits of the table from a bit position on. */
static uint32_t digits_from(uint32_t position) {
  uint32_t word = position >> 5;
  uint32_t shift = position & 31u;
  uint32_t digits = TWO_OVER_PI[word] << shift;
  if (shift != 0u) digits |= TWO_OVER_PI[word + 1u] >> (32u - shift);
  return digits;
}

/* Reduce a finite |x| above pi/4, given as bits, exactly enough that the rounding of r is the only error that counts.
 *
 * x = m * 2^e with a 24-bit m. Digits of 2/pi that m * 2^e turns into multiples of 4 do not matter; of the 96 that
 * follow, the product with m modulo 2^96 is the quadrant (2 bits) and its fraction (94 bits, 62 are kept). */
static float reduce(uint32_t magnitude, uint32_t *quadrant) {
  uint32_t position = (magnitude >> FLOAT_MANTISSA_BITS) - 120u; /* 30 + e */
  uint64_t m = (magnitude & 0x007fffffu) | 0x00800000u;
  uint64_t product = (m * digits_from(position)) << 32;
  product += m * digits_from(position + 32u);
  product += (m * digits_from(position + 64u)) >> 32;

  uint64_t nearest = (product + (UINT64_C(1) << 61)) >> 62;
  *quadrant = (uint32_t)nearest & 3u;
  uint64_t fraction = product - (nearest << 62); /* two's complement, in units of 2^-62 quadrants */
  uint32_t is_negative = (uint32_t)(fraction >> 63);
  if (is_negative != 0u) fraction = 0u - fraction;
  if (fraction == 0u) return 0.0f;

  /* Multiply with pi/2 before rounding to float, so that there is one rounding. */
  int32_t exponent = 0;
  while ((fraction >> 63) == 0u) {
    fraction <<= 1;
    exponent -= 1;
  }
  uint64_t scaled = (fraction >> 32) * UINT64_C(0xc90fdaa2); /* pi/2 in units of 2^-31 */
  /* fraction * 2^-62 * 2^exponent * pi/2 = scaled * 2^(32 - 62 - 31 + exponent); the upper word is enough. */
  float r = (float)(uint32_t)(scaled >> 32) * power_of_two(exponent - 29);
  return is_negative != 0u ? -r : r;
}

/* Both polynomials are minimax fits on |r| <= pi/4, errors below 2^-32. */
static float sine_near_zero(float r) {
  float z = r * r;
  float p = 0x1.7cd836p-19f;
  p = p * z - 0x1.a05bbap-13f;
  p = p * z + 0x1.111176p-7f;
  p = p * z - 0x1.555556p-3f;
  return r + r * (z * p);
}

static float cosine_near_zero(float r) {
  float z = r * r;
  float p = 0x1.99e0e4p-16f;
  p = p * z - 0x1.6c0c1ap-10f;
  p = p * z + 0x1.55554ap-5f;
  return 1.0f - (0.5f * z - z * z * p);
}

static float in_quadrant(float r, uint32_t quadrant) {
  float value = (quadrant & 1u) != 0u ? cosine_near_zero(r) : sine_near_zero(r);
  return (quadrant & 2u) != 0u ? -value : value;
}

float tvm_pulp_sinf(float x) {
  uint32_t magnitude = magnitude_bits(x);
  if (magnitude >= FLOAT_INFINITY_BITS) return x - x;
  if (magnitude <= PI_QUARTER_BITS) return sine_near_zero(x);
  uint32_t quadrant;
  float r = reduce(magnitude, &quadrant);
  float value = in_quadrant(r, quadrant);
  return (bits_of(x) & FLOAT_SIGN) != 0u ? -value : value;
}

float tvm_pulp_cosf(float x) {
  uint32_t magnitude = magnitude_bits(x);
  if (magnitude >= FLOAT_INFINITY_BITS) return x - x;
  if (magnitude <= PI_QUARTER_BITS) return cosine_near_zero(x);
  uint32_t quadrant;
  float r = reduce(magnitude, &quadrant);
  return in_quadrant(r, quadrant + 1u);
}
