/* SPDX-License-Identifier: Apache-2.0
 *
 * Powers. They need functions of the folder `math`, which only programs that include this are linked with: compilers
 * that optimize nothing keep static functions that nobody calls, and what those call. */
#ifndef TVM_PULP_POWER_H
#define TVM_PULP_POWER_H

#include "tvm_pulp/float_functions.h"

/* Of the folder `math`. */
float tvm_pulp_logf(float x);
float tvm_pulp_powf(float x, float y);

/* x^y within 2^-16 of the result: the logarithm has no more bits than a float. Everything but positive numbers is left
 * to the exact function, which is slow. */
TVM_PULP_SEPARATE float tvm_pulp_power(float x, float y) {
  if (x > 0.0f && x < __builtin_inff() && y - y == 0.0f) return tvm_pulp_exp(y * tvm_pulp_logf(x));
  return tvm_pulp_powf(x, y);
}

#endif /* TVM_PULP_POWER_H */
