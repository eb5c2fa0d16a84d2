/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocked product of cores with vectors. Their lanes.h says how wide things are and what an instruction does:
 *
 *   TVM_PULP_BLOCKS             blocks of channels at once
 *   TVM_PULP_VECTORS            sums of a block and a pixel are as many of tvm_pulp_sums
 *   TVM_PULP_PARTS              values of a pixel are multiplied in as many parts of TVM_PULP_DEPTH
 *   tvm_pulp_first_sums         what sums of a vector begin with
 *   tvm_pulp_some_weights       weights of a vector for a part
 *   tvm_pulp_some_values        values of a pixel for a part
 *   tvm_pulp_dot                a sum and the products of a part
 *   tvm_pulp_results_of         results of a block and a pixel, and
 *   tvm_pulp_store_results      how they are stored
 *   tvm_pulp_store_sums         sums of a block and a pixel are stored themselves */
#include "product.h"

/* Sums of `pixels` pixels and `some` blocks of channels, and their results; returns where weights of others begin. */
TVM_PULP_INLINE const int8_t *block(const tvm_pulp_lane *patch, int8_t *const *y, const int8_t *weight,
                                   const int32_t *scale, int32_t depth, const int32_t pixels, const int32_t some,
                                   const enum tvm_pulp_saturation saturation) {
  enum { BYTES = TVM_PULP_CHANNELS * TVM_PULP_DEPTH, PART = BYTES / TVM_PULP_PARTS, VECTOR = PART / TVM_PULP_VECTORS };
  const int32_t words = tvm_pulp_scale_words(TVM_PULP_CHANNELS, saturation);
  const int32_t one_block = TVM_PULP_CHANNELS * depth;
  const int32_t result = TVM_PULP_CHANNELS * (saturation == TVM_PULP_S32 ? 4 : 1);
  tvm_pulp_sums sum[TVM_PULP_PIXELS][TVM_PULP_BLOCKS][TVM_PULP_VECTORS];
  for (int32_t b = 0; b < some; b++) {
    for (int32_t v = 0; v < TVM_PULP_VECTORS; v++) {
      for (int32_t i = 0; i < pixels; i++) sum[i][b][v] = tvm_pulp_first_sums(scale + b * words, v);
    }
  }
  for (int32_t d = 0; d < depth; d += TVM_PULP_DEPTH, weight += BYTES) {
#pragma GCC unroll 4
    for (int32_t part = 0; part < TVM_PULP_PARTS; part++) {
      tvm_pulp_values x[TVM_PULP_PIXELS];
      for (int32_t i = 0; i < pixels; i++) x[i] = tvm_pulp_some_values(patch, i * depth + d, part);
      for (int32_t b = 0; b < some; b++) {
        for (int32_t v = 0; v < TVM_PULP_VECTORS; v++) {
          const tvm_pulp_weights w = tvm_pulp_some_weights(weight + b * one_block + part * PART + v * VECTOR);
          for (int32_t i = 0; i < pixels; i++) sum[i][b][v] = tvm_pulp_dot(sum[i][b][v], x[i], w, part);
        }
      }
    }
  }
  for (int32_t b = 0; b < some; b++) {
    tvm_pulp_block_results made[TVM_PULP_PIXELS];
    for (int32_t i = 0; i < pixels; i++) {
      if (saturation == TVM_PULP_S32)
        tvm_pulp_store_sums((int32_t *)(void *)(y[i] + b * result), sum[i][b]);
      else
        made[i] = tvm_pulp_results_of(sum[i][b], scale + b * words, saturation);
    }
    for (int32_t i = 0; i < pixels && saturation != TVM_PULP_S32; i++)
      tvm_pulp_store_results(y[i] + b * result, made[i]);
  }
  return weight + (some - 1) * one_block;
}

TVM_PULP_INLINE void blocks(const struct tvm_pulp_product *product, const int32_t pixels,
                            const enum tvm_pulp_saturation saturation) {
  /* Results are bytes, which may be anything: what is read behind them would be loaded again. */
  const int32_t depth = product->depth, words = tvm_pulp_scale_words(TVM_PULP_CHANNELS, saturation);
  const tvm_pulp_lane *patch = product->patch;
  const int8_t *weight = product->weight;
  const int32_t *scale = product->scale;
  int8_t *y[TVM_PULP_PIXELS];
  int32_t left = product->blocks;
  for (int32_t i = 0; i < pixels; i++) y[i] = product->y[i];
#define SOME_BLOCKS(some)                                                                                           \
  for (; left >= (some); left -= (some), scale += (some) * words) {                                                 \
    weight = block(patch, y, weight, scale, depth, pixels, some, saturation);                                       \
    for (int32_t i = 0; i < pixels; i++) y[i] += (some) * TVM_PULP_CHANNELS * (saturation == TVM_PULP_S32 ? 4 : 1); \
  }
  SOME_BLOCKS(TVM_PULP_BLOCKS)
  if (TVM_PULP_BLOCKS > 1) SOME_BLOCKS(1)
}

#include "product_functions.h"
