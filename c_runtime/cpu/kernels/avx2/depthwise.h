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
  __m256i sum[TVM_PULP_DEPTHWISE_PIXELS];
  for (int32_t i = 0; i < pixels; i++) sum[i] = tvm_pulp_vector(place->scale);
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {
      const int16_t *tap = weight + 8 * (ky * w->kernel_width + kx);
      const __m256i factor = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)tap));
      for (int32_t i = 0; i < pixels; i++) {
        const int32_t at = (column + i) * w->stride_width + kx * w->dilation_width;
        const int8_t *from = place->rows[ky] + at * w->channels + place->channel;
        const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)from);
        const __m256i value = w->is_unsigned ? _mm256_cvtepu8_epi32(bytes) : _mm256_cvtepi8_epi32(bytes);
        sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(value, factor));
      }
    }
  }
  for (int32_t i = 0; i < pixels; i++) {
    if (saturation == TVM_PULP_S32) {
      _mm256_storeu_si256((__m256i *)(void *)(sums + 8 * i), sum[i]);
    } else {
      const __m256i value = tvm_pulp_scaled(sum[i], place->scale, 8, saturation);
      _mm_storel_epi64((__m128i *)(void *)(y + i * w->channels), tvm_pulp_bytes_of(value, value, saturation));
    }
  }
}

#include "depthwise_rows.h"

#endif /* TVM_PULP_DEPTHWISE_H */
