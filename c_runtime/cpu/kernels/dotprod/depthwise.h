/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, eight channels at once: a value and a weight of 16 bits in each lane, sums in two vectors. */
#ifndef TVM_PULP_DEPTHWISE_H
#define TVM_PULP_DEPTHWISE_H

#include "lanes.h"
#include "window.h"

typedef int32_t (*tvm_pulp_sum_rule)(int32_t sum, int32_t channel, const int32_t *constants);

/* Sums of `pixels` neighbouring results of eight channels. */
TVM_PULP_INLINE void tvm_pulp_depthwise_sums(const struct tvm_pulp_window *w, const int8_t *const *rows, int32_t column,
                                             int32_t channel, const int16_t *weight, int32x4_t (*sum)[2],
                                             int32_t pixels) {
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {
      const int16x8_t factor = vld1q_s16(weight + 8 * (ky * w->kernel_width + kx));
      for (int32_t i = 0; i < pixels; i++) {
        const int32_t place = (column + i) * w->stride_width + kx * w->dilation_width;
        const int8x8_t bytes = vld1_s8(rows[ky] + place * w->channels + channel);
        const int16x8_t value =
            w->is_unsigned ? vreinterpretq_s16_u16(vmovl_u8(vreinterpret_u8_s8(bytes))) : vmovl_s8(bytes);
        sum[i][0] = vmlal_s16(sum[i][0], vget_low_s16(value), vget_low_s16(factor));
        sum[i][1] = vmlal_high_s16(sum[i][1], value, factor);
      }
    }
  }
}

TVM_PULP_INLINE void tvm_pulp_depthwise(const struct tvm_pulp_window *w, const int8_t *x, const int16_t *weight,
                                        const int32_t *scale, enum tvm_pulp_saturation saturation,
                                        tvm_pulp_sum_rule rule, const int32_t *constants, int8_t *y, int8_t *rows) {
  enum { PIXELS = 4 };
  const int32_t taps = w->kernel_height * w->kernel_width, words = tvm_pulp_scale_words(8, saturation);
  const int8_t *found[w->kernel_height];
  int32_t next = 0;
  tvm_pulp_begin_rows(w, rows);
  for (int32_t oy = 0; oy < w->out_height; oy++, y += w->out_width * w->channels) {
    tvm_pulp_find_rows(w, x, rows, oy, &next, found);
    for (int32_t k = 0; k < w->channels; k += 8) {
      const int32_t *constant = scale + k / 8 * words;
      for (int32_t ox = 0; ox < w->out_width;) {
        const int32_t count = ox + PIXELS <= w->out_width ? PIXELS : 1;
        int32x4_t sum[PIXELS][2];
        for (int32_t i = 0; i < PIXELS; i++) {
          for (int32_t v = 0; v < 2; v++) sum[i][v] = vld1q_s32(constant + 4 * v);
        }
        if (count == PIXELS)
          tvm_pulp_depthwise_sums(w, found, ox, k, weight + k * taps, sum, PIXELS);
        else
          tvm_pulp_depthwise_sums(w, found, ox, k, weight + k * taps, sum, 1);
        for (int32_t i = 0; i < count; i++, ox++) {
          int8_t *to = y + ox * w->channels + k;
          if (saturation == TVM_PULP_S32) {
            int32_t sums[8];
            for (int32_t v = 0; v < 2; v++) vst1q_s32(sums + 4 * v, sum[i][v]);
            for (int32_t c = 0; c < 8; c++) to[c] = (int8_t)rule(sums[c], k + c, constants);
          } else {
            const int32x4_t first = tvm_pulp_scaled(sum[i][0], constant, 8, saturation);
            const int32x4_t second = tvm_pulp_scaled(sum[i][1], constant + 4, 8, saturation);
            vst1_s8(to, tvm_pulp_bytes_of(first, second, saturation));
          }
        }
      }
    }
  }
}

#endif /* TVM_PULP_DEPTHWISE_H */
