/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two tensors of bytes: summands by tables or factors, then the rule of product.h, 16 at once. */
#ifndef TVM_PULP_ADD_H
#define TVM_PULP_ADD_H

#include "lanes.h"

/* `tables`: 256 summands by the bits of a value of the first tensor, then of the second. `scale`: shift, multiply, add,
 * less. */
TVM_PULP_INLINE void tvm_pulp_add(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count, const int32_t *tables,
                                  const int32_t *scale, enum tvm_pulp_saturation saturation) {
  int32_t constants[80] = {0};
  for (int32_t i = 0; i < 64; i++) constants[16 + i] = scale[i / 16];
  for (int32_t i = 0; i < count; i += 16) {
    const int32_t left = count - i < 16 ? count - i : 16;
    const __mmask16 mask = (__mmask16)tvm_pulp_first(left);
    const __m512i first = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, a + i));
    const __m512i second = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, b + i));
    const __m512i sum = _mm512_add_epi32(_mm512_i32gather_epi32(first, tables, 4),
                                         _mm512_i32gather_epi32(second, tables + 256, 4));
    tvm_pulp_store_some(y + i, sum, constants, left, saturation);
  }
}

/* The same with products as summands: `scale` goes on with the factors of both tensors, of 16 bits, and what sums begin
 * with. `a_unsigned`, `b_unsigned`: types of values. */
TVM_PULP_INLINE void tvm_pulp_add_products(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count,
                                           int32_t a_unsigned, int32_t b_unsigned, const int32_t *scale,
                                           enum tvm_pulp_saturation saturation) {
  int32_t constants[80] = {0};
  for (int32_t i = 0; i < 64; i++) constants[16 + i] = scale[i / 16];
  const __m512i factors = _mm512_set1_epi32((int32_t)(((uint32_t)scale[4] & 0xffffu) | (uint32_t)scale[5] << 16));
  for (int32_t i = 0; i < count; i += 16) {
    const int32_t left = count - i < 16 ? count - i : 16;
    const __mmask16 mask = (__mmask16)tvm_pulp_first(left);
    const __m128i one = _mm_maskz_loadu_epi8(mask, a + i), two = _mm_maskz_loadu_epi8(mask, b + i);
    const __m512i low = a_unsigned ? _mm512_cvtepu8_epi32(one) : _mm512_cvtepi8_epi32(one);
    const __m512i high = _mm512_slli_epi32(b_unsigned ? _mm512_cvtepu8_epi32(two) : _mm512_cvtepi8_epi32(two), 16);
    const __m512i sum = _mm512_madd_epi16(_mm512_mask_blend_epi16(0xaaaaaaaau, low, high), factors);
    tvm_pulp_store_some(y + i, _mm512_add_epi32(sum, _mm512_set1_epi32(scale[6])), constants, left, saturation);
  }
}

#endif /* TVM_PULP_ADD_H */
