/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LEAKY8_H
#define LEAKY8_H

#include "tvm_pulp/kernels.h"

/* y = x where x is not negative, else (x * slope + 64) >> 7 */
struct tvm_pulp_leaky8_args {
  const int8_t *x;
  int8_t *y;
  uint32_t count;
  int32_t slope;
};
TVM_PULP_KERNEL(leaky8);

#endif
