/* SPDX-License-Identifier: Apache-2.0
 *
 * Four pixels times two vectors of eight channels: eight sums, two vectors of weights, and two values of a pixel at a
 * time in all lanes. */
#include "product.h"

/* Sums of `pixels` pixels and a block of channels, and their results. */
TVM_PULP_INLINE void block(const struct tvm_pulp_product *product, int32_t number, const int32_t pixels,
                           const enum tvm_pulp_saturation saturation) {
  const int32_t depth = product->depth;
  const int8_t *weight = product->weight + number * 16 * depth;
  const int32_t *scale = product->scale + number * tvm_pulp_scale_words(16, saturation);
  __m256i sum[4][2];
  for (int32_t i = 0; i < pixels; i++) {
    for (int32_t v = 0; v < 2; v++) sum[i][v] = tvm_pulp_vector(scale + 8 * v);
  }
  for (int32_t d = 0; d < depth / 2; d++) {
    __m256i w[2];
    for (int32_t v = 0; v < 2; v++)
      w[v] = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(weight + 32 * d + 16 * v)));
    for (int32_t i = 0; i < pixels; i++) {
      const __m256i x = _mm256_set1_epi32((int32_t)product->patch[i * (depth / 2) + d]);
      for (int32_t v = 0; v < 2; v++) sum[i][v] = _mm256_add_epi32(sum[i][v], _mm256_madd_epi16(x, w[v]));
    }
  }
  for (int32_t i = 0; i < pixels; i++) {
    if (saturation == TVM_PULP_S32) {
      int32_t *y = (int32_t *)product->y[i] + 16 * number;
      for (int32_t v = 0; v < 2; v++) _mm256_storeu_si256((__m256i *)(void *)(y + 8 * v), sum[i][v]);
    } else {
      const __m256i first = tvm_pulp_scaled(sum[i][0], scale, 16, saturation);
      const __m256i second = tvm_pulp_scaled(sum[i][1], scale + 8, 16, saturation);
      int8_t *y = (int8_t *)product->y[i] + 16 * number;
      _mm_storeu_si128((__m128i *)(void *)y, tvm_pulp_bytes_of(first, second, saturation));
    }
  }
}

#define PRODUCT(name, saturation)                                                                 \
  void tvm_pulp_product_##name(const struct tvm_pulp_product *product) {                          \
    for (int32_t number = 0; number < product->blocks; number++) block(product, number, 4, saturation); \
  }                                                                                               \
  void tvm_pulp_product_one_##name(const struct tvm_pulp_product *product) {                      \
    for (int32_t number = 0; number < product->blocks; number++) block(product, number, 1, saturation); \
  }

PRODUCT(s8, TVM_PULP_S8)
PRODUCT(u8, TVM_PULP_U8)
PRODUCT(u7, TVM_PULP_U7)
PRODUCT(s8_away, TVM_PULP_S8_AWAY)
PRODUCT(s32, TVM_PULP_S32)
