/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, eight channels at once: a value and a weight of 16 bits in each lane. */
#ifndef TVM_PULP_DEPTHWISE_H
#define TVM_PULP_DEPTHWISE_H

#include "lanes.h"
#include "window.h"

typedef int32_t (*tvm_pulp_sum_rule)(int32_t sum, int32_t channel, const int32_t *constants);

TVM_PULP_INLINE __m256i tvm_pulp_depthwise_sum(const struct tvm_pulp_window *w, const int8_t *const *rows,
                                               int32_t place, const int16_t *weight, __m256i sum) {
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {
      const int8_t *from = rows[ky] + place + kx * w->dilation_width * w->channels;
      const int16_t *tap = weight + 8 * (ky * w->kernel_width + kx);
      const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)from);
      const __m256i value = w->is_unsigned ? _mm256_cvtepu8_epi32(bytes) : _mm256_cvtepi8_epi32(bytes);
      const __m256i factor = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)tap));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(value, factor));
    }
  }
  return sum;
}

TVM_PULP_INLINE void tvm_pulp_depthwise(const struct tvm_pulp_window *w, const int8_t *x, const int16_t *weight,
                                        const int32_t *scale, enum tvm_pulp_saturation saturation,
                                        tvm_pulp_sum_rule rule, const int32_t *constants, int8_t *y, int8_t *rows) {
  const int32_t taps = w->kernel_height * w->kernel_width, words = tvm_pulp_scale_words(8, saturation);
  const int8_t *found[w->kernel_height];
  int32_t next = 0;
  tvm_pulp_begin_rows(w, rows);
  for (int32_t oy = 0; oy < w->out_height; oy++, y += w->out_width * w->channels) {
    tvm_pulp_find_rows(w, x, rows, oy, &next, found);
    for (int32_t k = 0; k < w->channels; k += 8) {
      const int32_t *constant = scale + k / 8 * words;
      for (int32_t ox = 0; ox < w->out_width; ox++) {
        const int32_t place = ox * w->stride_width * w->channels + k;
        const __m256i sum = tvm_pulp_depthwise_sum(w, found, place, weight + k * taps, tvm_pulp_vector(constant));
        int8_t *to = y + ox * w->channels + k;
        if (saturation == TVM_PULP_S32) {
          int32_t sums[8];
          _mm256_storeu_si256((__m256i *)(void *)sums, sum);
          for (int32_t c = 0; c < 8; c++) to[c] = (int8_t)rule(sums[c], k + c, constants);
        } else {
          const __m256i value = tvm_pulp_scaled(sum, constant, 8, saturation);
          _mm_storel_epi64((__m128i *)(void *)to, tvm_pulp_bytes_of(value, value, saturation));
        }
      }
    }
  }
}

#endif /* TVM_PULP_DEPTHWISE_H */
