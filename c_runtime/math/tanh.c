/* SPDX-License-Identifier: Apache-2.0
 *
 * Hyperbolic tangent. */
#include "float_bits.h"
#include "tvm_pulp_math.h"

float tvm_pulp_tanhf(float x) {
  float magnitude = tvm_pulp_fabsf(x);
  if (is_nan(x)) return x;
  if (magnitude < 0.625f) {
    /* x + x^3 P(x^2), minimax fit with an error below 2^-31; exact for tiny arguments. */
    float z = x * x;
    float p = 0x1.06e6dcp-9f;
    p = p * z - 0x1.06e782p-7f;
    p = p * z + 0x1.627f1ep-6f;
    p = p * z - 0x1.b9d594p-5f;
    p = p * z + 0x1.110fe6p-3f;
    p = p * z - 0x1.555552p-2f;
    return x + x * (z * p);
  }
  /* From here on 1 - tanh is below a quarter of a unit in the last place of 1. */
  if (magnitude > 9.5f) return with_sign_of(1.0f, x);
  return with_sign_of(1.0f - 2.0f / (tvm_pulp_expf(2.0f * magnitude) + 1.0f), x);
}
