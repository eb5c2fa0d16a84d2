/* SPDX-License-Identifier: Apache-2.0
 *
 * Exponential function: exp(x) = 2^n * exp(r) with |r| <= ln(2)/2. */
#include "float_bits.h"
#include "tvm_pulp_math.h"

/* Above the first the result overflows, below the second it is less than half of the smallest subnormal. */
#define LARGEST_ARGUMENT 0x1.62e430p+6f   /* 88.722839 */
#define SMALLEST_ARGUMENT -0x1.9fe368p+6f /* -103.97207 */

/* ln(2) in two parts; the first has so few bits that its product with any n here is exact. */
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f
#define LOG2_E 0x1.715476p+0f

float tvm_pulp_expf(float x) {
  if (is_nan(x)) return x;
  if (x > LARGEST_ARGUMENT) return float_of(FLOAT_INFINITY_BITS);
  if (x < SMALLEST_ARGUMENT) return 0.0f;

  int32_t n = (int32_t)(x * LOG2_E + (x < 0.0f ? -0.5f : 0.5f));
  float r = (x - (float)n * LN2_HIGH) - (float)n * LN2_LOW;

  /* exp(r) = 1 + r + r^2 * P(r); the polynomial is a minimax fit, error below 2^-28. */
  float p = 0x1.6d781p-10f;
  p = p * r + 0x1.123adap-7f;
  p = p * r + 0x1.5554c2p-5f;
  p = p * r + 0x1.55549p-3f;
  p = p * r + 0.5f;
  float result = 1.0f + (r + r * r * p);

  /* Two steps, because 2^n itself can be out of range; only the second can round (into the subnormals). */
  int32_t half = n / 2;
  return result * power_of_two(half) * power_of_two(n - half);
}
