/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two tensors of bytes: each value by a table, then the rule of product.h, eight at once. */
#ifndef TVM_PULP_ADD_H
#define TVM_PULP_ADD_H

#include "lanes.h"

/* `tables`: 256 summands by the bits of a value of the first tensor, then of the second. `scale`: shift, multiply, add,
 * less. */
TVM_PULP_INLINE void tvm_pulp_add(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count, const int32_t *tables,
                                  const int32_t *scale, enum tvm_pulp_saturation saturation) {
  int32_t constants[40] = {0};
  for (int32_t i = 0; i < 32; i++) constants[8 + i] = scale[i / 8];
  for (int32_t i = 0; i < count; i += 8) {
    const int32_t left = count - i < 8 ? count - i : 8;
    int32_t sum[8] = {0};
    int8_t made[8];
    if (left == 8) {
#pragma GCC unroll 8
      for (int32_t j = 0; j < 8; j++) sum[j] = tables[a[i + j]] + tables[256 + b[i + j]];
    } else {
      for (int32_t j = 0; j < left; j++) sum[j] = tables[a[i + j]] + tables[256 + b[i + j]];
    }
    const int32x4_t first = tvm_pulp_scaled(vld1q_s32(sum), constants, 8, saturation);
    const int32x4_t second = tvm_pulp_scaled(vld1q_s32(sum + 4), constants, 8, saturation);
    const int8x8_t bytes = tvm_pulp_bytes_of(first, second, saturation);
    if (left == 8) {
      vst1_s8(y + i, bytes);
    } else {
      vst1_s8(made, bytes);
      for (int32_t j = 0; j < left; j++) y[i + j] = made[j];
    }
  }
}

#endif /* TVM_PULP_ADD_H */
