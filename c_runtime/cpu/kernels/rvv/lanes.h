/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of pixels for cores that multiply a value by a vector of weights: bytes in their order, unsigned ones less
 * 128, which the compiler takes back by what sums begin with. A pixel follows the other. Blocks are 16 channels, four
 * registers of 128 bits for their sums; where registers are longer, parts of them. */
#ifndef TVM_PULP_LANES_H
#define TVM_PULP_LANES_H

#include <riscv_vector.h>
#include <stdint.h>

#include "rule.h"

enum { TVM_PULP_PIXELS = 6, TVM_PULP_CHANNELS = 16, TVM_PULP_DEPTH = 4 };

typedef uint32_t __attribute__((may_alias)) tvm_pulp_lane; /* four values */

/* Puts values of a pixel of a block into a patch of a depth, from a place on. */
TVM_PULP_INLINE void tvm_pulp_put(tvm_pulp_lane *patch, int32_t pixel, int32_t place, int32_t depth, const void *values,
                                  int32_t count, int32_t is_unsigned) {
  uint8_t *to = (uint8_t *)patch + pixel * depth + place;
  const uint8_t *from = values;
  for (size_t left = (size_t)count, some; left > 0; left -= some, from += some, to += some) {
    some = __riscv_vsetvl_e8m8(left);
    const vuint8m8_t bytes = __riscv_vle8_v_u8m8(from, some);
    __riscv_vse8_v_u8m8(to, is_unsigned ? __riscv_vxor_vx_u8m8(bytes, 0x80, some) : bytes, some);
  }
}

/* Stores results of sums with their shift, factor and summand. */
TVM_PULP_INLINE void tvm_pulp_store_scaled(void *y, vint32m4_t sum, vuint32m4_t shift, vint32m4_t multiply,
                                           vint32m4_t add, size_t channels, enum tvm_pulp_saturation saturation) {
  const vint32m4_t high = __riscv_vmulh_vv_i32m4(__riscv_vsll_vv_i32m4(sum, shift, channels), multiply, channels);
  vint16m2_t value = __riscv_vnsra_wx_i16m2(__riscv_vadd_vv_i32m4(high, add, channels), 16, channels);
  if (saturation == TVM_PULP_U8 || saturation == TVM_PULP_U7) value = __riscv_vmax_vx_i16m2(value, 0, channels);
  if (saturation == TVM_PULP_U8) {
    const vuint16m2_t positive = __riscv_vreinterpret_v_i16m2_u16m2(value);
    __riscv_vse8_v_u8m1(y, __riscv_vnclipu_wx_u8m1(positive, 0, __RISCV_VXRM_RDN, channels), channels);
  } else {
    __riscv_vse8_v_i8m1(y, __riscv_vnclip_wx_i8m1(value, 0, __RISCV_VXRM_RDN, channels), channels);
  }
}

/* What is added to `add` below zero. */
TVM_PULP_INLINE vint32m4_t tvm_pulp_added(vint32m4_t sum, vint32m4_t add, vint32m4_t less, size_t channels) {
  const vint32m4_t below = __riscv_vand_vv_i32m4(__riscv_vsra_vx_i32m4(sum, 31, channels), less, channels);
  return __riscv_vadd_vv_i32m4(add, below, channels);
}

/* Stores results of the first channels of a block. */
TVM_PULP_INLINE void tvm_pulp_store(void *y, vint32m4_t sum, const int32_t *scale, size_t channels,
                                    enum tvm_pulp_saturation saturation) {
  if (saturation == TVM_PULP_S32) {
    __riscv_vse32_v_i32m4(y, sum, channels);
    return;
  }
  vint32m4_t add = __riscv_vle32_v_i32m4(scale + 48, channels);
  if (saturation == TVM_PULP_S8_AWAY)
    add = tvm_pulp_added(sum, add, __riscv_vle32_v_i32m4(scale + 64, channels), channels);
  const vuint32m4_t shift = __riscv_vle32_v_u32m4((const uint32_t *)(const void *)(scale + 16), channels);
  tvm_pulp_store_scaled(y, sum, shift, __riscv_vle32_v_i32m4(scale + 32, channels), add, channels, saturation);
}

#endif /* TVM_PULP_LANES_H */
