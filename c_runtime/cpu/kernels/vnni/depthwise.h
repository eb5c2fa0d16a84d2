/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, 16 channels at once: a value and a weight of 16 bits in each lane. */
#ifndef TVM_PULP_DEPTHWISE_H
#define TVM_PULP_DEPTHWISE_H

#include "lanes.h"
#include "window.h"

typedef int32_t (*tvm_pulp_sum_rule)(int32_t sum, int32_t channel, const int32_t *constants);

/* Sums of `pixels` neighbouring results of up to 16 channels. */
TVM_PULP_INLINE void tvm_pulp_depthwise_sums(const struct tvm_pulp_window *w, const int8_t *const *rows, int32_t column,
                                             int32_t channel, __mmask16 mask, const int16_t *weight, __m512i *sum,
                                             int32_t pixels) {
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {
      const __m512i factor =
          _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(weight + 16 * (ky * w->kernel_width + kx))));
      for (int32_t i = 0; i < pixels; i++) {
        const int32_t place = (column + i) * w->stride_width + kx * w->dilation_width;
        const __m128i bytes = _mm_maskz_loadu_epi8(mask, rows[ky] + place * w->channels + channel);
        const __m512i value = w->is_unsigned ? _mm512_cvtepu8_epi32(bytes) : _mm512_cvtepi8_epi32(bytes);
        sum[i] = _mm512_dpwssd_epi32(sum[i], value, factor);
      }
    }
  }
}

TVM_PULP_INLINE void tvm_pulp_depthwise(const struct tvm_pulp_window *w, const int8_t *x, const int16_t *weight,
                                        const int32_t *scale, enum tvm_pulp_saturation saturation,
                                        tvm_pulp_sum_rule rule, const int32_t *constants, int8_t *y, int8_t *rows) {
  enum { PIXELS = 4 };
  const int32_t taps = w->kernel_height * w->kernel_width, words = tvm_pulp_scale_words(saturation);
  const int8_t *found[w->kernel_height];
  int32_t next = 0;
  tvm_pulp_begin_rows(w, rows);
  for (int32_t oy = 0; oy < w->out_height; oy++, y += w->out_width * w->channels) {
    tvm_pulp_find_rows(w, x, rows, oy, &next, found);
    for (int32_t k = 0; k < w->channels; k += 16) {
      const int32_t channels = w->channels - k < 16 ? w->channels - k : 16;
      const int32_t *constant = scale + k / 16 * words;
      const __mmask16 mask = (__mmask16)tvm_pulp_first(channels);
      for (int32_t ox = 0; ox < w->out_width;) {
        const int32_t count = ox + PIXELS <= w->out_width ? PIXELS : 1;
        __m512i sum[PIXELS];
        for (int32_t i = 0; i < count; i++) sum[i] = _mm512_loadu_si512(constant);
        if (count == PIXELS)
          tvm_pulp_depthwise_sums(w, found, ox, k, mask, weight + k * taps, sum, PIXELS);
        else
          tvm_pulp_depthwise_sums(w, found, ox, k, mask, weight + k * taps, sum, 1);
        for (int32_t i = 0; i < count; i++, ox++) {
          int8_t *to = y + ox * w->channels + k;
          if (saturation == TVM_PULP_S32) {
            int32_t sums[16];
            _mm512_storeu_si512(sums, sum[i]);
            for (int32_t c = 0; c < channels; c++) to[c] = (int8_t)rule(sums[c], k + c, constants);
          } else {
            tvm_pulp_store(to, sum[i], constant, channels, saturation);
          }
        }
      }
    }
  }
}

#endif /* TVM_PULP_DEPTHWISE_H */
