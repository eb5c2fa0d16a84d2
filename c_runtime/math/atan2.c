/* SPDX-License-Identifier: Apache-2.0
 *
 * Angle of the point (x, y), between -pi and pi, as in C: signs of zeros count, infinite points lie on the diagonals
 * or the axes. */
#include "float_bits.h"
#include "tvm_pulp_math.h"

#define PI_HIGH 0x1.921fb6p+1f
#define PI_LOW -0x1.777a5cp-24f
#define TANGENT_OF_EIGHTH 0x1.a8279ap-2f /* of pi / 8 */

/* atan(t) for |t| <= tan(pi / 8), within 2^-30: t + t^3 P(t^2), the remainder fitted to the relative error. */
static float near_angle(float t) {
  float z = t * t;
  float p = -0x1.f1d86ep-5f;
  p = p * z + 0x1.b1e834p-4f;
  p = p * z - 0x1.23b4e2p-3f;
  p = p * z + 0x1.999192p-3f;
  p = p * z - 0x1.55554ap-2f;
  return t + t * z * p;
}

float tvm_pulp_atan2f(float y, float x) {
  if (is_nan(x) || is_nan(y)) return x + y;
  uint32_t up = magnitude_bits(y);
  uint32_t right = magnitude_bits(x);
  uint32_t is_left = bits_of(x) & FLOAT_SIGN;
  uint32_t is_steep = up > right;
  float angle;
  float rest = 0.0f; /* what the angle of the octant has behind its last digit */
  if (up == 0u) {
    angle = 0.0f;
  } else if (up == right) {
    angle = 0.25f * PI_HIGH;
    rest = 0.25f * PI_LOW;
  } else {
    float large = float_of(is_steep != 0u ? up : right);
    float small = float_of(is_steep != 0u ? right : up);
    if (large > 0x1p100f) { /* differences and sums stay finite; what becomes subnormal does not count */
      large *= 0x1p-30f;
      small *= 0x1p-30f;
    }
    if (small > TANGENT_OF_EIGHTH * large) {
      angle = 0.25f * PI_HIGH;
      rest = 0.25f * PI_LOW + near_angle((small - large) / (small + large));
    } else {
      angle = 0.0f;
      rest = near_angle(small / large);
    }
  }
  if (is_steep != 0u) {
    angle = 0.5f * PI_HIGH - angle;
    rest = 0.5f * PI_LOW - rest;
  }
  if (is_left != 0u) {
    angle = PI_HIGH - angle;
    rest = PI_LOW - rest;
  }
  return with_sign_of(angle + rest, y);
}
