/* SPDX-License-Identifier: Apache-2.0
 *
 * Two pixels times four channels, a sum in each of eight registers: 16 depths of a pixel and a channel at once. */
#include "product.h"

/* Sums of `pixels` pixels, a block of channels after the other, and their results. */
TVM_PULP_INLINE void blocks(const struct tvm_pulp_product *product, const int32_t pixels,
                            const enum tvm_pulp_saturation saturation) {
  /* Results are bytes, which may be anything: what is read again behind them would be loaded again. */
  const int32_t depth = product->depth, bytes = saturation == TVM_PULP_S32 ? 4 : 1;
  const int8_t *weight = product->weight, *first = (const int8_t *)product->patch;
  const int32_t *scale = product->scale;
  int8_t *y[2] = {product->y[0], product->y[1]};
  for (int32_t left = product->blocks; left > 0; left--, scale += tvm_pulp_scale_words(4, saturation)) {
    const int8_t *patch = first;
    int32_t sum[2][4];
    for (int32_t i = 0; i < pixels; i++) {
      for (int32_t k = 0; k < 4; k++) sum[i][k] = scale[k];
    }
    for (int32_t d = 0; d < depth; d += 16, weight += 64, patch += 16) {
      int8x16_t x[2];
      for (int32_t i = 0; i < pixels; i++) x[i] = vldrbq_s8(patch + i * depth);
      for (int32_t k = 0; k < 4; k++) {
        const int8x16_t w = vldrbq_s8(weight + 16 * k);
        for (int32_t i = 0; i < pixels; i++) sum[i][k] = vmladavaq_s8(sum[i][k], x[i], w);
      }
    }
    for (int32_t i = 0; i < pixels; i++, y[i - 1] += 4 * bytes) {
      const int32x4_t sums = {sum[i][0], sum[i][1], sum[i][2], sum[i][3]};
      if (saturation == TVM_PULP_S32) {
        vstrwq_s32((int32_t *)(void *)y[i], sums);
      } else {
        int32x4_t add = vldrwq_s32(scale + 12);
        if (saturation == TVM_PULP_S8_AWAY) add = vaddq_s32(add, tvm_pulp_less(sums, vldrwq_s32(scale + 16)));
        const int32x4_t value = tvm_pulp_scaled(sums, vldrwq_s32(scale + 4), vldrwq_s32(scale + 8), add);
        vstrbq_s32(y[i], tvm_pulp_results_of(value, saturation));
      }
    }
  }
}

#define PRODUCT(name, saturation)                                                                          \
  void tvm_pulp_product_##name(const struct tvm_pulp_product *product) { blocks(product, 2, saturation); } \
  void tvm_pulp_product_one_##name(const struct tvm_pulp_product *product) { blocks(product, 1, saturation); }

PRODUCT(s8, TVM_PULP_S8)
PRODUCT(u8, TVM_PULP_U8)
PRODUCT(u7, TVM_PULP_U7)
PRODUCT(s8_away, TVM_PULP_S8_AWAY)
PRODUCT(s32, TVM_PULP_S32)
