/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, eight channels at once: a value and a weight of 16 bits in each lane. */
#ifndef TVM_PULP_DEPTHWISE_H
#define TVM_PULP_DEPTHWISE_H

#include "lanes.h"
#include "window.h"

enum { TVM_PULP_DEPTHWISE_PIXELS = 4, TVM_PULP_DEPTHWISE_CHANNELS = 8 };
typedef int16_t tvm_pulp_factor;

TVM_PULP_INLINE void tvm_pulp_depthwise_block(const struct tvm_pulp_window *w,
                                              const struct tvm_pulp_depthwise_place *place, int32_t column,
                                              enum tvm_pulp_saturation saturation, int32_t pixels, int32_t *sums,
                                              int8_t *y) {
  const int16_t *weight = place->weight;
  const int32_t *scale = place->scale;
  int32x4_t sum[TVM_PULP_DEPTHWISE_PIXELS][2];
  for (int32_t i = 0; i < pixels; i++) {
    for (int32_t v = 0; v < 2; v++) sum[i][v] = vld1q_s32(scale + 4 * v);
  }
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {
      const int16x8_t factor = vld1q_s16(weight + 8 * (ky * w->kernel_width + kx));
      for (int32_t i = 0; i < pixels; i++) {
        const int32_t at = (column + i) * w->stride_width + kx * w->dilation_width;
        const int8x8_t bytes = vld1_s8(place->rows[ky] + at * w->channels + place->channel);
        const int16x8_t value =
            w->is_unsigned ? vreinterpretq_s16_u16(vmovl_u8(vreinterpret_u8_s8(bytes))) : vmovl_s8(bytes);
        sum[i][0] = vmlal_s16(sum[i][0], vget_low_s16(value), vget_low_s16(factor));
        sum[i][1] = vmlal_high_s16(sum[i][1], value, factor);
      }
    }
  }
  for (int32_t i = 0; i < pixels; i++) {
    if (saturation == TVM_PULP_S32) {
      for (int32_t v = 0; v < 2; v++) vst1q_s32(sums + 8 * i + 4 * v, sum[i][v]);
    } else {
      const int32x4_t first = tvm_pulp_scaled(sum[i][0], scale, 8, saturation);
      const int32x4_t second = tvm_pulp_scaled(sum[i][1], scale + 4, 8, saturation);
      vst1_s8(y + i * w->channels, tvm_pulp_bytes_of(first, second, saturation));
    }
  }
}

#include "depthwise_rows.h"

#endif /* TVM_PULP_DEPTHWISE_H */
