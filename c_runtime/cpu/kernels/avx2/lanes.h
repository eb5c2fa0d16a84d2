/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of pixels in their order, a pixel after the other. Cores with AVX2 multiply pairs of 16 bits in each lane, as
 * products of bytes saturate there; those with AVX-VNNI four bytes, of which values are unsigned: signed ones have 128
 * added, which the compiler takes back by what sums begin with. */
#ifndef TVM_PULP_LANES_H
#define TVM_PULP_LANES_H

#include <immintrin.h>
#include <stdint.h>

#include "rule.h"

enum { TVM_PULP_PIXELS = 4, TVM_PULP_CHANNELS = 16, TVM_PULP_DEPTH = 4 };
#ifdef __AVXVNNI__
enum { TVM_PULP_BLOCKS = 1, TVM_PULP_VECTORS = 2, TVM_PULP_PARTS = 1, TVM_PULP_LANE = 4 };
#else
enum { TVM_PULP_BLOCKS = 1, TVM_PULP_VECTORS = 2, TVM_PULP_PARTS = 2, TVM_PULP_LANE = 2 };
#endif

typedef uint32_t __attribute__((may_alias)) tvm_pulp_lane; /* two values, or four */

TVM_PULP_INLINE __m256i tvm_pulp_vector(const void *from) { return _mm256_loadu_si256((const __m256i *)from); }

/* Puts values, four or a multiple, of a pixel of a block into a patch of a depth, from a place on. */
TVM_PULP_INLINE void tvm_pulp_put(tvm_pulp_lane *patch, int32_t pixel, int32_t place, int32_t depth, const void *values,
                                  int32_t count, int32_t is_unsigned) {
#ifdef __AVXVNNI__
  uint8_t *to = (uint8_t *)patch + pixel * depth + place;
  const uint8_t *from = values, offset = is_unsigned ? 0 : 0x80;
  int32_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i bytes = _mm256_xor_si256(tvm_pulp_vector(from + i), _mm256_set1_epi8((char)offset));
    _mm256_storeu_si256((__m256i *)(void *)(to + i), bytes);
  }
  for (; i < count; i++) to[i] = from[i] ^ offset;
#else
  int16_t *to = (int16_t *)(void *)patch + pixel * depth + place;
  const int8_t *from = values;
  int32_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
    const __m256i wide = is_unsigned ? _mm256_cvtepu8_epi16(bytes) : _mm256_cvtepi8_epi16(bytes);
    _mm256_storeu_si256((__m256i *)(void *)(to + i), wide);
  }
  for (; i < count; i++) to[i] = is_unsigned ? (int16_t)(uint8_t)from[i] : from[i];
#endif
}

/* Eight sums; `scale` are the constants of the first of them, of a block of `channels`. */
TVM_PULP_INLINE __m256i tvm_pulp_scaled(__m256i sum, const int32_t *scale, int32_t channels,
                                        enum tvm_pulp_saturation saturation) {
  const __m256i shift = tvm_pulp_vector(scale + channels), multiply = tvm_pulp_vector(scale + 2 * channels);
  __m256i add = tvm_pulp_vector(scale + 3 * channels);
  if (saturation == TVM_PULP_S8_AWAY)
    add = _mm256_add_epi32(add, _mm256_and_si256(_mm256_srai_epi32(sum, 31), tvm_pulp_vector(scale + 4 * channels)));
  sum = _mm256_sllv_epi32(sum, shift);
  const __m256i even = _mm256_mul_epi32(sum, multiply);
  const __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(sum, 32), _mm256_srli_epi64(multiply, 32));
  const __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
  return _mm256_srai_epi32(_mm256_add_epi32(high, add), 16);
}

/* Sixteen values as saturated bytes. */
TVM_PULP_INLINE __m128i tvm_pulp_bytes_of(__m256i first, __m256i second, enum tvm_pulp_saturation saturation) {
  const __m256i halves = _mm256_permute4x64_epi64(_mm256_packs_epi32(first, second), 0xD8);
  const __m128i low = _mm256_castsi256_si128(halves), high = _mm256_extracti128_si256(halves, 1);
  if (saturation == TVM_PULP_U8) return _mm_packus_epi16(low, high);
  if (saturation == TVM_PULP_U7) return _mm_min_epu8(_mm_packus_epi16(low, high), _mm_set1_epi8(127));
  return _mm_packs_epi16(low, high);
}

typedef __m256i tvm_pulp_sums, tvm_pulp_weights, tvm_pulp_values;
typedef __m128i tvm_pulp_block_results;

TVM_PULP_INLINE __m256i tvm_pulp_first_sums(const int32_t *scale, int32_t vector) {
  return tvm_pulp_vector(scale + 8 * vector);
}

#ifdef __AVXVNNI__
TVM_PULP_INLINE __m256i tvm_pulp_some_weights(const int8_t *weight) { return tvm_pulp_vector(weight); }

TVM_PULP_INLINE __m256i tvm_pulp_some_values(const tvm_pulp_lane *from, int32_t part) {
  return _mm256_set1_epi32((int32_t)from[part]);
}

TVM_PULP_INLINE __m256i tvm_pulp_dot(__m256i sum, __m256i x, __m256i w, int32_t part) {
  (void)part;
  return _mm256_dpbusd_avx_epi32(sum, x, w);
}
#else
TVM_PULP_INLINE __m256i tvm_pulp_some_weights(const int8_t *weight) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)weight));
}

TVM_PULP_INLINE __m256i tvm_pulp_some_values(const tvm_pulp_lane *from, int32_t part) {
  return _mm256_set1_epi32((int32_t)from[part]);
}

TVM_PULP_INLINE __m256i tvm_pulp_dot(__m256i sum, __m256i x, __m256i w, int32_t part) {
  (void)part;
  return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
}
#endif

TVM_PULP_INLINE __m128i tvm_pulp_results_of(const __m256i *sum, const int32_t *scale,
                                            enum tvm_pulp_saturation saturation) {
  const __m256i first = tvm_pulp_scaled(sum[0], scale, 16, saturation);
  return tvm_pulp_bytes_of(first, tvm_pulp_scaled(sum[1], scale + 8, 16, saturation), saturation);
}

TVM_PULP_INLINE void tvm_pulp_store_results(int8_t *y, __m128i results) {
  _mm_storeu_si128((__m128i *)(void *)y, results);
}

TVM_PULP_INLINE void tvm_pulp_store_sums(int32_t *y, const __m256i *sum) {
  for (int32_t v = 0; v < 2; v++) _mm256_storeu_si256((__m256i *)(void *)(y + 8 * v), sum[v]);
}

#endif /* TVM_PULP_LANES_H */
