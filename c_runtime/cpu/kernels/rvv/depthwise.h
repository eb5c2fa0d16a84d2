/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, 16 channels at once: a value and a weight of 16 bits in each lane. */
#ifndef TVM_PULP_DEPTHWISE_H
#define TVM_PULP_DEPTHWISE_H

#include "lanes.h"
#include "window.h"

typedef int32_t (*tvm_pulp_sum_rule)(int32_t sum, int32_t channel, const int32_t *constants);

TVM_PULP_INLINE vint32m4_t tvm_pulp_depthwise_sum(const struct tvm_pulp_window *w, const int8_t *const *rows,
                                                  int32_t place, const int16_t *weight, const int32_t *scale,
                                                  size_t channels) {
  vint32m4_t sum = __riscv_vle32_v_i32m4(scale, channels);
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {
      const int8_t *from = rows[ky] + place + kx * w->dilation_width * w->channels;
      const vint8m1_t bytes = __riscv_vle8_v_i8m1(from, channels);
      const vuint8m1_t positive = __riscv_vreinterpret_v_i8m1_u8m1(bytes);
      const vint16m2_t value =
          w->is_unsigned ? __riscv_vreinterpret_v_u16m2_i16m2(__riscv_vzext_vf2_u16m2(positive, channels))
                         : __riscv_vsext_vf2_i16m2(bytes, channels);
      const vint16m2_t factor = __riscv_vle16_v_i16m2(weight + 16 * (ky * w->kernel_width + kx), channels);
      sum = __riscv_vwmacc_vv_i32m4(sum, value, factor, channels);
    }
  }
  return sum;
}

TVM_PULP_INLINE void tvm_pulp_depthwise(const struct tvm_pulp_window *w, const int8_t *x, const int16_t *weight,
                                        const int32_t *scale, enum tvm_pulp_saturation saturation,
                                        tvm_pulp_sum_rule rule, const int32_t *constants, int8_t *y, int8_t *rows) {
  const int32_t taps = w->kernel_height * w->kernel_width, words = tvm_pulp_scale_words(saturation);
  const int8_t *found[w->kernel_height];
  int32_t next = 0;
  tvm_pulp_begin_rows(w, rows);
  for (int32_t oy = 0; oy < w->out_height; oy++, y += w->out_width * w->channels) {
    tvm_pulp_find_rows(w, x, rows, oy, &next, found);
    for (int32_t k = 0; k < w->channels; k += 16) {
      const int32_t channels = w->channels - k < 16 ? w->channels - k : 16;
      const int32_t *constant = scale + k / 16 * words;
      for (int32_t ox = 0; ox < w->out_width; ox++) {
        const int32_t place = ox * w->stride_width * w->channels + k;
        const vint32m4_t sum =
            tvm_pulp_depthwise_sum(w, found, place, weight + k * taps, constant, (size_t)channels);
        int8_t *to = y + ox * w->channels + k;
        if (saturation == TVM_PULP_S32) {
          int32_t sums[16];
          __riscv_vse32_v_i32m4(sums, sum, (size_t)channels);
          for (int32_t c = 0; c < channels; c++) to[c] = (int8_t)rule(sums[c], k + c, constants);
        } else {
          tvm_pulp_store(to, sum, constant, (size_t)channels, saturation);
        }
      }
    }
  }
}

#endif /* TVM_PULP_DEPTHWISE_H */
