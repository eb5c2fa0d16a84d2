/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two tensors of bytes: summands by tables or factors, then the rule of product.h, eight at once. */
#ifndef TVM_PULP_ADD_H
#define TVM_PULP_ADD_H

#include "lanes.h"

/* `tables`: 256 summands by the bits of a value of the first tensor, then of the second. `scale`: shift, multiply, add,
 * less. */
TVM_PULP_INLINE void tvm_pulp_add(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count, const int32_t *tables,
                                  const int32_t *scale, enum tvm_pulp_saturation saturation) {
  int32_t constants[40] = {0};
  for (int32_t i = 0; i < 32; i++) constants[8 + i] = scale[i / 8];
  for (int32_t i = 0; i < count; i += 8) {
    const uint32_t left = count - i < 8 ? (uint32_t)(count - i) : 8u;
    uint64_t first = 0, second = 0;
    __builtin_memcpy(&first, a + i, left);
    __builtin_memcpy(&second, b + i, left);
    const __m256i one = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)first));
    const __m256i other = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)second));
    const __m256i sum = _mm256_add_epi32(_mm256_i32gather_epi32((const int *)tables, one, 4),
                                         _mm256_i32gather_epi32((const int *)tables + 256, other, 4));
    const __m256i value = tvm_pulp_scaled(sum, constants, 8, saturation);
    const int64_t made = _mm_cvtsi128_si64(tvm_pulp_bytes_of(value, value, saturation));
    __builtin_memcpy(y + i, &made, left);
  }
}

/* The same with products as summands: `scale` goes on with the factors of both tensors, of 16 bits, and what sums begin
 * with. `a_unsigned`, `b_unsigned`: types of values. */
TVM_PULP_INLINE void tvm_pulp_add_products(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count,
                                           int32_t a_unsigned, int32_t b_unsigned, const int32_t *scale,
                                           enum tvm_pulp_saturation saturation) {
  int32_t constants[40] = {0};
  for (int32_t i = 0; i < 32; i++) constants[8 + i] = scale[i / 8];
  const __m256i factors = _mm256_set1_epi32((int32_t)(((uint32_t)scale[4] & 0xffffu) | (uint32_t)scale[5] << 16));
  for (int32_t i = 0; i < count; i += 8) {
    const uint32_t left = count - i < 8 ? (uint32_t)(count - i) : 8u;
    uint64_t first = 0, second = 0;
    __builtin_memcpy(&first, a + i, left);
    __builtin_memcpy(&second, b + i, left);
    const __m128i one = _mm_cvtsi64_si128((int64_t)first), two = _mm_cvtsi64_si128((int64_t)second);
    const __m256i low = a_unsigned ? _mm256_cvtepu8_epi32(one) : _mm256_cvtepi8_epi32(one);
    const __m256i high = _mm256_slli_epi32(b_unsigned ? _mm256_cvtepu8_epi32(two) : _mm256_cvtepi8_epi32(two), 16);
    const __m256i sum = _mm256_madd_epi16(_mm256_blend_epi16(low, high, 0xaa), factors);
    const __m256i value = tvm_pulp_scaled(_mm256_add_epi32(sum, _mm256_set1_epi32(scale[6])), constants, 8, saturation);
    const int64_t made = _mm_cvtsi128_si64(tvm_pulp_bytes_of(value, value, saturation));
    __builtin_memcpy(y + i, &made, left);
  }
}

#endif /* TVM_PULP_ADD_H */
