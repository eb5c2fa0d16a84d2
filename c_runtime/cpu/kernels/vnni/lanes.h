/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of pixels for cores that multiply four unsigned bytes by four signed ones in each lane: bytes in their order,
 * signed ones with 128 added, which the compiler takes back by what sums begin with. A pixel follows the other. */
#ifndef TVM_PULP_LANES_H
#define TVM_PULP_LANES_H

#include <immintrin.h>
#include <stdint.h>

#include "rule.h"

enum { TVM_PULP_PIXELS = 8, TVM_PULP_CHANNELS = 16, TVM_PULP_DEPTH = 4 };
enum { TVM_PULP_BLOCKS = 2, TVM_PULP_VECTORS = 1, TVM_PULP_PARTS = 1, TVM_PULP_LANE = 4 };

typedef uint32_t __attribute__((may_alias)) tvm_pulp_lane; /* four values */

TVM_PULP_INLINE __mmask64 tvm_pulp_first(int32_t count) { return count >= 64 ? ~0ull : (1ull << count) - 1ull; }

/* Puts values, four or a multiple, of a pixel of a block into a patch of a depth, from a place on. */
TVM_PULP_INLINE void tvm_pulp_put(tvm_pulp_lane *patch, int32_t pixel, int32_t place, int32_t depth, const void *values,
                                  int32_t count, int32_t is_unsigned) {
  uint8_t *to = (uint8_t *)patch + pixel * depth + place;
  const uint8_t *from = values;
  const __m512i offset = _mm512_set1_epi8((char)(is_unsigned ? 0 : 0x80));
  for (int32_t i = 0; i < count; i += 64) {
    const __mmask64 mask = tvm_pulp_first(count - i);
    _mm512_mask_storeu_epi8(to + i, mask, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, from + i), offset));
  }
}

TVM_PULP_INLINE __m512i tvm_pulp_scaled(__m512i sum, const int32_t *scale, enum tvm_pulp_saturation saturation) {
  const __m512i shift = _mm512_loadu_si512(scale + 16), multiply = _mm512_loadu_si512(scale + 32);
  __m512i add = _mm512_loadu_si512(scale + 48);
  if (saturation == TVM_PULP_S8_AWAY)
    add = _mm512_add_epi32(add, _mm512_and_si512(_mm512_srai_epi32(sum, 31), _mm512_loadu_si512(scale + 64)));
  sum = _mm512_sllv_epi32(sum, shift);
  const __m512i even = _mm512_mul_epi32(sum, multiply);
  const __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(sum, 32), _mm512_srli_epi64(multiply, 32));
  const __m512i high = _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
  return _mm512_srai_epi32(_mm512_add_epi32(high, add), 16);
}

typedef __m512i tvm_pulp_sums, tvm_pulp_weights, tvm_pulp_values;
typedef __m128i tvm_pulp_block_results;

TVM_PULP_INLINE __m512i tvm_pulp_first_sums(const int32_t *scale, int32_t vector) {
  return _mm512_loadu_si512(scale + 16 * vector);
}

TVM_PULP_INLINE __m512i tvm_pulp_some_weights(const int8_t *weight) { return _mm512_loadu_si512(weight); }

TVM_PULP_INLINE __m512i tvm_pulp_some_values(const tvm_pulp_lane *from, int32_t part) {
  return _mm512_set1_epi32((int32_t)from[part]);
}

TVM_PULP_INLINE __m512i tvm_pulp_dot(__m512i sum, __m512i x, __m512i w, int32_t part) {
  (void)part;
  return _mm512_dpbusd_epi32(sum, x, w);
}

TVM_PULP_INLINE __m128i tvm_pulp_results_of(const __m512i *sum, const int32_t *scale,
                                            enum tvm_pulp_saturation saturation) {
  const __m512i value = tvm_pulp_scaled(*sum, scale, saturation), positive = _mm512_max_epi32(value, _mm512_setzero_si512());
  if (saturation == TVM_PULP_U8) return _mm512_cvtusepi32_epi8(positive);
  return _mm512_cvtsepi32_epi8(saturation == TVM_PULP_U7 ? positive : value);
}

TVM_PULP_INLINE void tvm_pulp_store_results(int8_t *y, __m128i results) {
  _mm_storeu_si128((__m128i *)(void *)y, results);
}

TVM_PULP_INLINE void tvm_pulp_store_sums(int32_t *y, const __m512i *sum) { _mm512_storeu_si512(y, *sum); }

/* The first results of a block. */
TVM_PULP_INLINE void tvm_pulp_store_some(int8_t *y, __m512i sum, const int32_t *scale, int32_t channels,
                                         enum tvm_pulp_saturation saturation) {
  _mm_mask_storeu_epi8(y, (__mmask16)tvm_pulp_first(channels), tvm_pulp_results_of(&sum, scale, saturation));
}

#endif /* TVM_PULP_LANES_H */
