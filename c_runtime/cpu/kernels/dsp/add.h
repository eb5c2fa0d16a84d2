/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two tensors of bytes: each value by a table, then the rule of product.h. */
#ifndef TVM_PULP_ADD_H
#define TVM_PULP_ADD_H

#include "lanes.h"

/* `tables`: 256 summands by the bits of a value of the first tensor, then of the second. `scale`: shift, multiply, add,
 * less. */
TVM_PULP_INLINE void tvm_pulp_add(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count, const int32_t *tables,
                                  const int32_t *scale, enum tvm_pulp_saturation saturation) {
  const int32_t shift = scale[0], multiply = scale[1], add = scale[2], less = scale[3];
#pragma GCC unroll 4
  for (int32_t i = 0; i < count; i++) {
    const int32_t sum = tables[a[i]] + tables[256 + b[i]];
    const int32_t added = saturation == TVM_PULP_S8_AWAY ? add + (less & sum >> 31) : add;
    y[i] = (int8_t)tvm_pulp_saturate(tvm_pulp_scaled(sum, shift, multiply, added), saturation);
  }
}

#endif /* TVM_PULP_ADD_H */
