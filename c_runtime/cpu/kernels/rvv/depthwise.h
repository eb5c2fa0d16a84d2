/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, 16 channels at once: a value and a weight of 16 bits in each lane. */
#ifndef TVM_PULP_DEPTHWISE_H
#define TVM_PULP_DEPTHWISE_H

#include "lanes.h"
#include "window.h"

enum { TVM_PULP_DEPTHWISE_PIXELS = 1, TVM_PULP_DEPTHWISE_CHANNELS = 16 };
typedef int16_t tvm_pulp_factor;

TVM_PULP_INLINE void tvm_pulp_depthwise_block(const struct tvm_pulp_window *w,
                                              const struct tvm_pulp_depthwise_place *place, int32_t column,
                                              enum tvm_pulp_saturation saturation, int32_t pixels, int32_t *sums,
                                              int8_t *y) {
  const size_t channels = (size_t)place->channels;
  const int32_t at = column * w->stride_width * w->channels + place->channel;
  const int16_t *weight = place->weight;
  vint32m4_t sum = __riscv_vle32_v_i32m4(place->scale, channels);
  (void)pixels; /* one */
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {
      const int8_t *from = place->rows[ky] + at + kx * w->dilation_width * w->channels;
      const vint8m1_t bytes = __riscv_vle8_v_i8m1(from, channels);
      const vuint8m1_t positive = __riscv_vreinterpret_v_i8m1_u8m1(bytes);
      const vint16m2_t value =
          w->is_unsigned ? __riscv_vreinterpret_v_u16m2_i16m2(__riscv_vzext_vf2_u16m2(positive, channels))
                         : __riscv_vsext_vf2_i16m2(bytes, channels);
      const vint16m2_t factor = __riscv_vle16_v_i16m2(weight + 16 * (ky * w->kernel_width + kx), channels);
      sum = __riscv_vwmacc_vv_i32m4(sum, value, factor, channels);
    }
  }
  tvm_pulp_store(saturation == TVM_PULP_S32 ? (void *)sums : (void *)y, sum, place->scale, channels, saturation);
}

#include "depthwise_rows.h"

#endif /* TVM_PULP_DEPTHWISE_H */
