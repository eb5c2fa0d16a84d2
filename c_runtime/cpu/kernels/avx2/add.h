/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two tensors of bytes: each value by a table, then the rule of product.h, eight at once. */
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

#endif /* TVM_PULP_ADD_H */
