/* SPDX-License-Identifier: Apache-2.0
 *
 * Four pixels times four vectors of four channels: sixteen sums, four vectors of weights, and 16 values of each pixel,
 * of which four at a time are multiplied with all channels. */
#include "product.h"

/* Sums of `pixels` pixels and a block of channels, and their results. */
TVM_PULP_INLINE void block(const struct tvm_pulp_product *product, int32_t number, const int32_t pixels,
                           const enum tvm_pulp_saturation saturation) {
  const int32_t depth = product->depth;
  const int8_t *weight = product->weight + number * 16 * depth, *patch = (const int8_t *)product->patch;
  const int32_t *scale = product->scale + number * tvm_pulp_scale_words(16, saturation);
  int32x4_t sum[4][4];
  for (int32_t v = 0; v < 4; v++) {
    for (int32_t i = 0; i < pixels; i++) sum[i][v] = vld1q_s32(scale + 4 * v);
  }
  for (int32_t d = 0; d < depth; d += 16) {
    int8x16_t x[4];
    for (int32_t i = 0; i < pixels; i++) x[i] = vld1q_s8(patch + i * depth + d);
#define FOUR_DEPTHS(part)                                                                                     \
  for (int32_t v = 0; v < 4; v++) {                                                                           \
    const int8x16_t w = vld1q_s8(weight + 16 * (d + 4 * part + v));                                           \
    for (int32_t i = 0; i < pixels; i++) sum[i][v] = vdotq_laneq_s32(sum[i][v], w, x[i], part);               \
  }
    FOUR_DEPTHS(0)
    FOUR_DEPTHS(1)
    FOUR_DEPTHS(2)
    FOUR_DEPTHS(3)
  }
  if (saturation == TVM_PULP_S32) {
    for (int32_t i = 0; i < pixels; i++) {
      int32_t *y = (int32_t *)product->y[i] + 16 * number;
      for (int32_t v = 0; v < 4; v++) vst1q_s32(y + 4 * v, sum[i][v]);
    }
    return;
  }
  for (int32_t v = 0; v < 4; v++) {
    for (int32_t i = 0; i < pixels; i++) sum[i][v] = tvm_pulp_scaled(sum[i][v], scale + 4 * v, 16, saturation);
  }
  for (int32_t i = 0; i < pixels; i++) {
    const int8x8_t low = tvm_pulp_bytes_of(sum[i][0], sum[i][1], saturation);
    const int8x8_t high = tvm_pulp_bytes_of(sum[i][2], sum[i][3], saturation);
    vst1q_s8((int8_t *)product->y[i] + 16 * number, vcombine_s8(low, high));
  }
}

#define PRODUCT(name, saturation)                                                                       \
  void tvm_pulp_product_##name(const struct tvm_pulp_product *product) {                                \
    for (int32_t number = 0; number < product->blocks; number++) block(product, number, 4, saturation); \
  }                                                                                                     \
  void tvm_pulp_product_one_##name(const struct tvm_pulp_product *product) {                            \
    for (int32_t number = 0; number < product->blocks; number++) block(product, number, 1, saturation); \
  }

PRODUCT(s8, TVM_PULP_S8)
PRODUCT(u8, TVM_PULP_U8)
PRODUCT(u7, TVM_PULP_U7)
PRODUCT(s8_away, TVM_PULP_S8_AWAY)
PRODUCT(s32, TVM_PULP_S32)
