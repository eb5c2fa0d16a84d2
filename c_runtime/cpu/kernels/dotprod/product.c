/* SPDX-License-Identifier: Apache-2.0
 *
 * Four pixels times four vectors of four channels: sixteen sums, four vectors of weights, and 16 values of each pixel,
 * of which four at a time are multiplied with all channels.
 *
 * With instructions for matrices a sum holds two pixels times two channels, and eight values of both are multiplied by
 * eight weights of each channel. */
#ifdef __ARM_FEATURE_MATMUL_INT8
#include "product.h"

/* Sums of a pixel and four channels, of two vectors. */
TVM_PULP_INLINE int32x4_t row_of(int32x4_t first, int32x4_t second, int32_t row) {
  const int64x2_t a = vreinterpretq_s64_s32(first), b = vreinterpretq_s64_s32(second);
  return vreinterpretq_s32_s64(row == 0 ? vzip1q_s64(a, b) : vzip2q_s64(a, b));
}

TVM_PULP_INLINE void blocks(const struct tvm_pulp_product *product, const int32_t pixels,
                            const enum tvm_pulp_saturation saturation) {
  enum { PAIRS = TVM_PULP_PIXELS / 2, VECTORS = TVM_PULP_CHANNELS / 2 };
  const int32_t depth = product->depth, pairs = (pixels + 1) / 2;
  const int8_t *weight = product->weight, *patch = (const int8_t *)product->patch;
  const int32_t *scale = product->scale;
  for (int32_t number = 0; number < product->blocks; number++, scale += tvm_pulp_scale_words(16, saturation)) {
    int32x4_t sum[PAIRS][VECTORS];
    for (int32_t v = 0; v < VECTORS; v++) {
      const int32x2_t start = vld1_s32(scale + 2 * v);
      for (int32_t p = 0; p < pairs; p++) sum[p][v] = vcombine_s32(start, start);
    }
#pragma GCC unroll 2
    for (int32_t d = 0; d < depth; d += TVM_PULP_DEPTH, weight += 16 * VECTORS) {
      int8x16_t x[PAIRS];
      for (int32_t p = 0; p < pairs; p++)
        x[p] = pixels > 1 ? vld1q_s8(patch + 2 * (p * depth + d))
                          : vreinterpretq_s8_s64(vld1q_dup_s64((const int64_t *)(const void *)(patch + d)));
      for (int32_t v = 0; v < VECTORS; v++) {
        const int8x16_t w = vld1q_s8(weight + 16 * v);
        for (int32_t p = 0; p < pairs; p++) sum[p][v] = vmmlaq_s32(sum[p][v], x[p], w);
      }
    }
    int8x16_t made[TVM_PULP_PIXELS];
    for (int32_t i = 0; i < pixels; i++) {
      int32x4_t four[4];
      for (int32_t j = 0; j < 4; j++) four[j] = row_of(sum[i / 2][2 * j], sum[i / 2][2 * j + 1], i % 2);
      if (saturation == TVM_PULP_S32)
        tvm_pulp_store_sums((int32_t *)product->y[i] + 16 * number, four);
      else
        made[i] = tvm_pulp_results_of(four, scale, saturation);
    }
    for (int32_t i = 0; i < pixels && saturation != TVM_PULP_S32; i++)
      tvm_pulp_store_results((int8_t *)product->y[i] + 16 * number, made[i]);
  }
}

#include "product_functions.h"
#else
#include "vector_product.h"
#endif
