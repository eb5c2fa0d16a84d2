/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two tensors of bytes: summands by tables or factors, then the rule of product.h, 16 at once. */
#ifndef TVM_PULP_ADD_H
#define TVM_PULP_ADD_H

#include "lanes.h"

/* Summands of values, by their table. */
TVM_PULP_INLINE vint32m4_t tvm_pulp_summands(const uint8_t *values, const int32_t *table, size_t count) {
  const vuint16m2_t place = __riscv_vzext_vf2_u16m2(__riscv_vle8_v_u8m1(values, count), count);
  return __riscv_vluxei16_v_i32m4(table, __riscv_vsll_vx_u16m2(place, 2, count), count);
}

/* Values as halves of words. */
TVM_PULP_INLINE vint16m2_t tvm_pulp_widened(const uint8_t *values, int32_t is_unsigned, size_t count) {
  const vuint8m1_t bytes = __riscv_vle8_v_u8m1(values, count);
  if (is_unsigned) return __riscv_vreinterpret_v_u16m2_i16m2(__riscv_vzext_vf2_u16m2(bytes, count));
  return __riscv_vsext_vf2_i16m2(__riscv_vreinterpret_v_u8m1_i8m1(bytes), count);
}

TVM_PULP_INLINE void tvm_pulp_store_sum(int8_t *y, vint32m4_t sum, const int32_t *scale, size_t some,
                                        enum tvm_pulp_saturation saturation) {
  vint32m4_t add = __riscv_vmv_v_x_i32m4(scale[2], some);
  if (saturation == TVM_PULP_S8_AWAY) add = tvm_pulp_added(sum, add, __riscv_vmv_v_x_i32m4(scale[3], some), some);
  const vuint32m4_t shift = __riscv_vmv_v_x_u32m4((uint32_t)scale[0], some);
  tvm_pulp_store_scaled(y, sum, shift, __riscv_vmv_v_x_i32m4(scale[1], some), add, some, saturation);
}

/* `tables`: 256 summands by the bits of a value of the first tensor, then of the second. `scale`: shift, multiply, add,
 * less. */
TVM_PULP_INLINE void tvm_pulp_add(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count, const int32_t *tables,
                                  const int32_t *scale, enum tvm_pulp_saturation saturation) {
  for (size_t left = (size_t)count, some; left > 0; left -= some, a += some, b += some, y += some) {
    some = __riscv_vsetvl_e32m4(left);
    const vint32m4_t first = tvm_pulp_summands(a, tables, some), second = tvm_pulp_summands(b, tables + 256, some);
    tvm_pulp_store_sum(y, __riscv_vadd_vv_i32m4(first, second, some), scale, some, saturation);
  }
}

/* The same with products as summands: `scale` goes on with the factors of both tensors, of 16 bits, and what sums begin
 * with. `a_unsigned`, `b_unsigned`: types of values. */
TVM_PULP_INLINE void tvm_pulp_add_products(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count,
                                           int32_t a_unsigned, int32_t b_unsigned, const int32_t *scale,
                                           enum tvm_pulp_saturation saturation) {
  for (size_t left = (size_t)count, some; left > 0; left -= some, a += some, b += some, y += some) {
    some = __riscv_vsetvl_e32m4(left);
    const vint16m2_t first = tvm_pulp_widened(a, a_unsigned, some), second = tvm_pulp_widened(b, b_unsigned, some);
    vint32m4_t sum = __riscv_vmv_v_x_i32m4(scale[6], some);
    sum = __riscv_vwmacc_vx_i32m4(sum, (int16_t)scale[4], first, some);
    tvm_pulp_store_sum(y, __riscv_vwmacc_vx_i32m4(sum, (int16_t)scale[5], second, some), scale, some, saturation);
  }
}

#endif /* TVM_PULP_ADD_H */
