/* SPDX-License-Identifier: Apache-2.0
 *
 * Eight pixels times two vectors of 16 channels: sixteen sums, two vectors of weights, and four bytes of a pixel at a
 * time in all lanes. */
#include "product.h"

/* Sums of `pixels` pixels and `vectors` blocks of channels, and their results. */
TVM_PULP_INLINE void block(const struct tvm_pulp_product *product, int32_t first, const int32_t pixels,
                           const int32_t vectors, const enum tvm_pulp_saturation saturation) {
  const int32_t depth = product->depth, words = tvm_pulp_scale_words(saturation);
  const int8_t *weight = product->weight + first * 16 * depth;
  const int32_t *scale = product->scale + first * words;
  __m512i sum[8][2];
  for (int32_t v = 0; v < vectors; v++) {
    for (int32_t i = 0; i < pixels; i++) sum[i][v] = _mm512_loadu_si512(scale + v * words);
  }
  for (int32_t d = 0; d < depth / 4; d++) {
    __m512i w[2];
    for (int32_t v = 0; v < vectors; v++) w[v] = _mm512_loadu_si512(weight + v * 16 * depth + 64 * d);
    for (int32_t i = 0; i < pixels; i++) {
      const __m512i x = _mm512_set1_epi32((int32_t)product->patch[i * (depth / 4) + d]);
      for (int32_t v = 0; v < vectors; v++) sum[i][v] = _mm512_dpbusd_epi32(sum[i][v], x, w[v]);
    }
  }
  for (int32_t v = 0; v < vectors; v++) {
    const int32_t at = 16 * (first + v), bytes = saturation == TVM_PULP_S32 ? 4 : 1;
    for (int32_t i = 0; i < pixels; i++)
      tvm_pulp_store((int8_t *)product->y[i] + at * bytes, sum[i][v], scale + v * words, 16, saturation);
  }
}

TVM_PULP_INLINE void blocks(const struct tvm_pulp_product *product, const int32_t pixels,
                            const enum tvm_pulp_saturation saturation) {
  int32_t first = 0;
  for (; first + 2 <= product->blocks; first += 2) block(product, first, pixels, 2, saturation);
  if (first < product->blocks) block(product, first, pixels, 1, saturation);
}

#define PRODUCT(name, saturation)                                                                                  \
  void tvm_pulp_product_##name(const struct tvm_pulp_product *product) { blocks(product, 8, saturation); }         \
  void tvm_pulp_product_one_##name(const struct tvm_pulp_product *product) { blocks(product, 1, saturation); }

PRODUCT(s8, TVM_PULP_S8)
PRODUCT(u8, TVM_PULP_U8)
PRODUCT(u7, TVM_PULP_U7)
PRODUCT(s8_away, TVM_PULP_S8_AWAY)
PRODUCT(s32, TVM_PULP_S32)
