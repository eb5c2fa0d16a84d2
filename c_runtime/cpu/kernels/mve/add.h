/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two tensors of bytes: summands by tables or factors, then the rule of product.h, four at once. */
#ifndef TVM_PULP_ADD_H
#define TVM_PULP_ADD_H

#include "lanes.h"

TVM_PULP_INLINE void tvm_pulp_store_sum(int8_t *y, int32x4_t sum, int32x4_t shift, int32x4_t multiply, int32x4_t add,
                                        int32_t less, mve_pred16_t some, enum tvm_pulp_saturation saturation) {
  if (saturation == TVM_PULP_S8_AWAY) add = vaddq_s32(add, tvm_pulp_less(sum, vdupq_n_s32(less)));
  vstrbq_p_s32(y, tvm_pulp_saturated(tvm_pulp_scaled(sum, shift, multiply, add), saturation), some);
}

/* `tables`: 256 summands by the bits of a value of the first tensor, then of the second. `scale`: shift, multiply, add,
 * less. */
TVM_PULP_INLINE void tvm_pulp_add(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count, const int32_t *tables,
                                  const int32_t *scale, enum tvm_pulp_saturation saturation) {
  const int32x4_t shift = vdupq_n_s32(scale[0]), multiply = vdupq_n_s32(scale[1]), constant = vdupq_n_s32(scale[2]);
  for (int32_t i = 0; i < count; i += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)(count - i));
    const int32x4_t first = vldrwq_gather_shifted_offset_s32(tables, vldrbq_z_u32(a + i, some));
    const int32x4_t second = vldrwq_gather_shifted_offset_s32(tables + 256, vldrbq_z_u32(b + i, some));
    tvm_pulp_store_sum(y + i, vaddq_s32(first, second), shift, multiply, constant, scale[3], some, saturation);
  }
}

/* The same with products as summands: `scale` goes on with the factors of both tensors, of 16 bits, and what sums begin
 * with. `a_unsigned`, `b_unsigned`: types of values. */
TVM_PULP_INLINE void tvm_pulp_add_products(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count,
                                           int32_t a_unsigned, int32_t b_unsigned, const int32_t *scale,
                                           enum tvm_pulp_saturation saturation) {
  const int32x4_t shift = vdupq_n_s32(scale[0]), multiply = vdupq_n_s32(scale[1]), constant = vdupq_n_s32(scale[2]);
  for (int32_t i = 0; i < count; i += 4) {
    const mve_pred16_t some = vctp32q((uint32_t)(count - i));
    const int32x4_t first = a_unsigned ? vreinterpretq_s32_u32(vldrbq_z_u32(a + i, some))
                                       : vldrbq_z_s32((const int8_t *)a + i, some);
    const int32x4_t second = b_unsigned ? vreinterpretq_s32_u32(vldrbq_z_u32(b + i, some))
                                        : vldrbq_z_s32((const int8_t *)b + i, some);
    const int32x4_t one = vmlaq_n_s32(vdupq_n_s32(scale[6]), first, scale[4]);
    const int32x4_t sum = vmlaq_n_s32(one, second, scale[5]);
    tvm_pulp_store_sum(y + i, sum, shift, multiply, constant, scale[3], some, saturation);
  }
}

#endif /* TVM_PULP_ADD_H */
