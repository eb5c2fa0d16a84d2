/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two tensors of bytes: summands by tables or factors, then the rule of product.h, eight at once. */
#ifndef TVM_PULP_ADD_H
#define TVM_PULP_ADD_H

#include "lanes.h"

/* Results of eight sums, of which some are stored. */
TVM_PULP_INLINE void tvm_pulp_store_sums_of(int8_t *y, int32x4_t first, int32x4_t second, const int32_t *constants,
                                            int32_t left, enum tvm_pulp_saturation saturation) {
  const int8x8_t bytes = tvm_pulp_bytes_of(tvm_pulp_scaled(first, constants, 8, saturation),
                                           tvm_pulp_scaled(second, constants, 8, saturation), saturation);
  int8_t made[8];
  if (left == 8) {
    vst1_s8(y, bytes);
  } else {
    vst1_s8(made, bytes);
    for (int32_t j = 0; j < left; j++) y[j] = made[j];
  }
}

/* `tables`: 256 summands by the bits of a value of the first tensor, then of the second. `scale`: shift, multiply, add,
 * less. */
TVM_PULP_INLINE void tvm_pulp_add(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count, const int32_t *tables,
                                  const int32_t *scale, enum tvm_pulp_saturation saturation) {
  int32_t constants[40] = {0};
  for (int32_t i = 0; i < 32; i++) constants[8 + i] = scale[i / 8];
  for (int32_t i = 0; i < count; i += 8) {
    const int32_t left = count - i < 8 ? count - i : 8;
    int32_t sum[8] = {0};
    if (left == 8) {
#pragma GCC unroll 8
      for (int32_t j = 0; j < 8; j++) sum[j] = tables[a[i + j]] + tables[256 + b[i + j]];
    } else {
      for (int32_t j = 0; j < left; j++) sum[j] = tables[a[i + j]] + tables[256 + b[i + j]];
    }
    tvm_pulp_store_sums_of(y + i, vld1q_s32(sum), vld1q_s32(sum + 4), constants, left, saturation);
  }
}

/* Eight values of a tensor as halves of words. */
TVM_PULP_INLINE int16x8_t tvm_pulp_widened(const uint8_t *values, int32_t is_unsigned) {
  const uint8x8_t bytes = vld1_u8(values);
  return is_unsigned ? vreinterpretq_s16_u16(vmovl_u8(bytes)) : vmovl_s8(vreinterpret_s8_u8(bytes));
}

/* The same with products as summands: `scale` goes on with the factors of both tensors, of 16 bits, and what sums begin
 * with. `a_unsigned`, `b_unsigned`: types of values. */
TVM_PULP_INLINE void tvm_pulp_add_products(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count,
                                           int32_t a_unsigned, int32_t b_unsigned, const int32_t *scale,
                                           enum tvm_pulp_saturation saturation) {
  int32_t constants[40] = {0};
  for (int32_t i = 0; i < 32; i++) constants[8 + i] = scale[i / 8];
  const int32x4_t start = vdupq_n_s32(scale[6]);
  for (int32_t i = 0; i < count; i += 8) {
    const int32_t left = count - i < 8 ? count - i : 8;
    uint8_t some[2][8] = {{0}, {0}};
    for (int32_t j = 0; left < 8 && j < left; j++) some[0][j] = a[i + j], some[1][j] = b[i + j];
    const int16x8_t one = tvm_pulp_widened(left < 8 ? some[0] : a + i, a_unsigned);
    const int16x8_t two = tvm_pulp_widened(left < 8 ? some[1] : b + i, b_unsigned);
    const int32x4_t first = vmlal_n_s16(start, vget_low_s16(one), (int16_t)scale[4]);
    const int32x4_t second = vmlal_high_n_s16(start, one, (int16_t)scale[4]);
    tvm_pulp_store_sums_of(y + i, vmlal_n_s16(first, vget_low_s16(two), (int16_t)scale[5]),
                           vmlal_high_n_s16(second, two, (int16_t)scale[5]), constants, left, saturation);
  }
}

#endif /* TVM_PULP_ADD_H */
