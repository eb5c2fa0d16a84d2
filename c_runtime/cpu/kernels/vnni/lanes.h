/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of pixels for cores that multiply four unsigned bytes by four signed ones in each lane: bytes in their order,
 * signed ones with 128 added, which the compiler takes back by what sums begin with. A pixel follows the other. */
#ifndef TVM_PULP_LANES_H
#define TVM_PULP_LANES_H

#include <immintrin.h>
#include <stdint.h>

#include "tvm_pulp/integer.h"

enum { TVM_PULP_PIXELS = 8, TVM_PULP_CHANNELS = 16, TVM_PULP_DEPTH = 4 };

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

TVM_PULP_INLINE void tvm_pulp_put_one(tvm_pulp_lane *patch, const void *values, int32_t count, int32_t is_unsigned) {
  tvm_pulp_put(patch, 0, 0, 0, values, count, is_unsigned);
}

/* How sums become results, as product.h says. */
enum tvm_pulp_saturation { TVM_PULP_S8, TVM_PULP_U8, TVM_PULP_U7, TVM_PULP_S8_AWAY, TVM_PULP_S32 };

/* Constants of a block of 16 channels: what sums begin with, then each constant of all channels. */
TVM_PULP_INLINE int32_t tvm_pulp_scale_words(enum tvm_pulp_saturation saturation) {
  return 16 * (saturation == TVM_PULP_S32 ? 1 : saturation == TVM_PULP_S8_AWAY ? 5 : 4);
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

/* Stores results of the first channels of a block. */
TVM_PULP_INLINE void tvm_pulp_store(void *y, __m512i sum, const int32_t *scale, int32_t channels,
                                    enum tvm_pulp_saturation saturation) {
  if (saturation == TVM_PULP_S32) {
    _mm512_storeu_si512(y, sum);
    return;
  }
  const __m512i value = tvm_pulp_scaled(sum, scale, saturation), zero = _mm512_setzero_si512();
  const __mmask16 mask = (__mmask16)tvm_pulp_first(channels);
  if (saturation == TVM_PULP_U8)
    _mm512_mask_cvtusepi32_storeu_epi8(y, mask, _mm512_max_epi32(value, zero));
  else
    _mm512_mask_cvtsepi32_storeu_epi8(y, mask, saturation == TVM_PULP_U7 ? _mm512_max_epi32(value, zero) : value);
}

#endif /* TVM_PULP_LANES_H */
