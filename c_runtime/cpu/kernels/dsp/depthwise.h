/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, four channels at once: values and weights as pairs of 16 bits, a product for each half.
 * Weights of four channels: for each tap a word of the first and third, a word of the second and fourth. */
#ifndef TVM_PULP_DEPTHWISE_H
#define TVM_PULP_DEPTHWISE_H

#include "lanes.h"
#include "window.h"

TVM_PULP_INLINE void tvm_pulp_depthwise(const struct tvm_pulp_window *w, const int8_t *x, const int16_t *weight,
                                        const int32_t *scale, enum tvm_pulp_saturation saturation,
                                        tvm_pulp_rule rule, const int32_t *constants, int8_t *y, int8_t *rows) {
  const int32_t taps = w->kernel_height * w->kernel_width, words = tvm_pulp_scale_words(4, saturation);
  const int32_t of_one = words / 4 - 1; /* constants of a channel behind what the four sums begin with */
  const int8_t *found[w->kernel_height];
  int32_t next = 0;
  tvm_pulp_begin_rows(w, rows);
  for (int32_t oy = 0; oy < w->out_height; oy++) {
    tvm_pulp_find_rows(w, x, rows, oy, &next, found);
    for (int32_t ox = 0; ox < w->out_width; ox++) {
      const tvm_pulp_lane *pair = (const tvm_pulp_lane *)(const void *)weight;
      const int32_t *constant = scale;
      const int32_t column = ox * w->stride_width * w->channels;
      for (int32_t k = 0; k < w->channels; k += 4, constant += words, y += 4, pair += 2 * taps) {
        int32_t sum[4] = {constant[0], constant[1], constant[2], constant[3]};
        for (int32_t ky = 0; ky < w->kernel_height; ky++) {
          for (int32_t kx = 0; kx < w->kernel_width; kx++) {
            const int8_t *from = found[ky] + column + kx * w->dilation_width * w->channels + k;
            const uint32_t word = *(const tvm_pulp_word *)(const void *)from;
            const int32_t even = (int32_t)tvm_pulp_even(word, w->is_unsigned);
            const int32_t odd = (int32_t)tvm_pulp_odd(word, w->is_unsigned);
            const int32_t tap = 2 * (ky * w->kernel_width + kx);
            const int32_t first = (int32_t)pair[tap], second = (int32_t)pair[tap + 1];
            sum[0] = __smlabb(even, first, sum[0]);
            sum[2] = __smlatt(even, first, sum[2]);
            sum[1] = __smlabb(odd, second, sum[1]);
            sum[3] = __smlatt(odd, second, sum[3]);
          }
        }
        for (int32_t i = 0; i < 4; i++) {
          if (saturation == TVM_PULP_S32)
            y[i] = (int8_t)rule(sum[i], k + i, constants);
          else
            y[i] = tvm_pulp_result(sum[i], constant + 4 + of_one * i, saturation);
        }
      }
    }
  }
}

#endif /* TVM_PULP_DEPTHWISE_H */
