/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, 16 channels at once: a value and a weight of 16 bits in each lane. */
#ifndef TVM_PULP_DEPTHWISE_H
#define TVM_PULP_DEPTHWISE_H

#include "lanes.h"
#include "window.h"

enum { TVM_PULP_DEPTHWISE_PIXELS = 4, TVM_PULP_DEPTHWISE_CHANNELS = 16 };
typedef int16_t tvm_pulp_factor;

TVM_PULP_INLINE void tvm_pulp_depthwise_block(const struct tvm_pulp_window *w,
                                              const struct tvm_pulp_depthwise_place *place, int32_t column,
                                              enum tvm_pulp_saturation saturation, int32_t pixels, int32_t *sums,
                                              int8_t *y) {
  const int16_t *weight = place->weight;
  const __mmask16 mask = (__mmask16)tvm_pulp_first(place->channels);
  __m512i sum[TVM_PULP_DEPTHWISE_PIXELS];
  for (int32_t i = 0; i < pixels; i++) sum[i] = _mm512_loadu_si512(place->scale);
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {
      const int16_t *tap = weight + 16 * (ky * w->kernel_width + kx);
      const __m512i factor = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)tap));
      for (int32_t i = 0; i < pixels; i++) {
        const int32_t at = (column + i) * w->stride_width + kx * w->dilation_width;
        const __m128i bytes = _mm_maskz_loadu_epi8(mask, place->rows[ky] + at * w->channels + place->channel);
        const __m512i value = w->is_unsigned ? _mm512_cvtepu8_epi32(bytes) : _mm512_cvtepi8_epi32(bytes);
        sum[i] = _mm512_dpwssd_epi32(sum[i], value, factor);
      }
    }
  }
  for (int32_t i = 0; i < pixels; i++) {
    if (saturation == TVM_PULP_S32)
      _mm512_storeu_si512(sums + 16 * i, sum[i]);
    else
      tvm_pulp_store_some(y + i * w->channels, sum[i], place->scale, place->channels, saturation);
  }
}

#include "depthwise_rows.h"

#endif /* TVM_PULP_DEPTHWISE_H */
