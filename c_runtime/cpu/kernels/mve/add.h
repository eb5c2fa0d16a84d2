/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two tensors of bytes: each value by a table, then the rule of product.h, four at once. */
#ifndef TVM_PULP_ADD_H
#define TVM_PULP_ADD_H

#include "lanes.h"

/* `tables`: 256 summands by the bits of a value of the first tensor, then of the second. `scale`: shift, multiply, add,
 * less. */
TVM_PULP_INLINE void tvm_pulp_add(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count, const int32_t *tables,
                                  const int32_t *scale, enum tvm_pulp_saturation saturation) {
  const int32x4_t shift = vdupq_n_s32(scale[0]), multiply = vdupq_n_s32(scale[1]), constant = vdupq_n_s32(scale[2]);
  for (int32_t i = 0; i < count; i += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)(count - i));
    const int32x4_t first = vldrwq_gather_shifted_offset_s32(tables, vldrbq_z_u32(a + i, some));
    const int32x4_t second = vldrwq_gather_shifted_offset_s32(tables + 256, vldrbq_z_u32(b + i, some));
    const int32x4_t sum = vaddq_s32(first, second);
    int32x4_t add = constant;
    if (saturation == TVM_PULP_S8_AWAY) add = vaddq_s32(add, tvm_pulp_less(sum, vdupq_n_s32(scale[3])));
    const int32x4_t value = tvm_pulp_scaled(sum, shift, multiply, add);
    vstrbq_p_s32(y + i, tvm_pulp_saturated(value, saturation), some);
  }
}

#endif /* TVM_PULP_ADD_H */
