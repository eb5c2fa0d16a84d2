/* SPDX-License-Identifier: Apache-2.0
 *
 * Error function. */
#include "float_bits.h"
#include "tvm_pulp_math.h"

float tvm_pulp_erff(float x) {
  float magnitude = tvm_pulp_fabsf(x);
  if (is_nan(x)) return x;
  if (magnitude < 1.0f) {
    /* x + x P(x^2), minimax fit with an error below 2^-29. */
    float z = x * x;
    float p = 0x1.4c344ep-14f;
    p = p * z - 0x1.a50b0ep-11f;
    p = p * z + 0x1.542e1p-8f;
    p = p * z - 0x1.b7fe9p-6f;
    p = p * z + 0x1.ce2d5p-4f;
    p = p * z - 0x1.81274p-2f;
    p = p * z + 0x1.06eba8p-3f;
    return x + x * p;
  }
  /* From here on 1 - erf is below half a unit in the last place of 1. */
  if (magnitude > 3.95f) return with_sign_of(1.0f, x);
  /* log(1 - erf(x)), minimax fit; its error weighted with 1 - erf(x) is below 2^-35. */
  float p = -0x1.6bf48ap-16f;
  p = p * magnitude + 0x1.cedf9ep-12f;
  p = p * magnitude - 0x1.139624p-8f;
  p = p * magnitude + 0x1.9d0a6p-6f;
  p = p * magnitude - 0x1.bc1868p-4f;
  p = p * magnitude - 0x1.4434f8p-1f;
  p = p * magnitude - 0x1.212c2cp+0f;
  p = p * magnitude + 0x1.8b3edp-13f;
  return with_sign_of(1.0f - tvm_pulp_expf(p), x);
}
