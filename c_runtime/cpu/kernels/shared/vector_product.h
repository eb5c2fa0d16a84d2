/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocked product of cores with vectors. Their lanes.h says how wide things are and what an instruction does:
 *
 *   TVM_PULP_BLOCKS             blocks of channels at once
 *   TVM_PULP_VECTORS            sums of a block and a pixel are as many of tvm_pulp_sums
 *   TVM_PULP_PARTS              values of a pixel are multiplied in as many parts of TVM_PULP_DEPTH
 *   TVM_PULP_LANE               values of a tvm_pulp_lane
 *   tvm_pulp_first_sums         what sums of a vector begin with
 *   tvm_pulp_some_weights       weights of a vector for a part
 *   tvm_pulp_some_values        values of a pixel for a part
 *   tvm_pulp_dot                a sum and the products of a part
 *   tvm_pulp_results_of         results of a block and a pixel, and
 *   tvm_pulp_store_results      how they are stored
 *   tvm_pulp_store_sums         sums of a block and a pixel are stored themselves */
#include "product.h"

/* GNU's compiler copies sums around the instruction that adds to them, and spills them where registers are short; a sum
 * that an asm statement has changed stays where it is. Others only schedule worse for it. */
#if defined(__x86_64__) && !defined(__clang__)
#define TVM_PULP_KEEP_IN_PLACE(sum) __asm__("" : "+v"(sum))
#else
#define TVM_PULP_KEEP_IN_PLACE(sum)
#endif

/* All loops below have constant counts; unrolled early, their arrays are registers. */
#define UNROLL _Pragma("GCC unroll 8")

/* Sums of `pixels` pixels and `some` blocks of channels, and their results; returns where weights of others begin. */
TVM_PULP_INLINE const int8_t *block(const tvm_pulp_lane *patch, int8_t *const *y, const int8_t *weight,
                                   const int32_t *scale, int32_t depth, const int32_t pixels, const int32_t some,
                                   const enum tvm_pulp_saturation saturation) {
  enum { BYTES = TVM_PULP_CHANNELS * TVM_PULP_DEPTH, PART = BYTES / TVM_PULP_PARTS, VECTOR = PART / TVM_PULP_VECTORS };
  const int32_t words = tvm_pulp_scale_words(TVM_PULP_CHANNELS, saturation);
  const int32_t one_block = TVM_PULP_CHANNELS * depth;
  const int32_t lanes = depth / TVM_PULP_LANE;
  const int32_t result = TVM_PULP_CHANNELS * (saturation == TVM_PULP_S32 ? 4 : 1);
  tvm_pulp_sums sum[TVM_PULP_PIXELS][TVM_PULP_BLOCKS][TVM_PULP_VECTORS];
  const tvm_pulp_lane *from[TVM_PULP_PIXELS];
  UNROLL for (int32_t i = 0; i < pixels; i++) from[i] = patch + i * lanes;
  UNROLL for (int32_t b = 0; b < some; b++) {
    UNROLL for (int32_t v = 0; v < TVM_PULP_VECTORS; v++) {
      UNROLL for (int32_t i = 0; i < pixels; i++) sum[i][b][v] = tvm_pulp_first_sums(scale + b * words, v);
    }
  }
  intptr_t at = 0; /* as wide as an address, so that it is a part of addresses */
  do {             /* a depth is at least one: no copies of sums for a loop that is left out */
#pragma GCC unroll 4
    for (int32_t part = 0; part < TVM_PULP_PARTS; part++) {
      tvm_pulp_values x[TVM_PULP_PIXELS];
      UNROLL for (int32_t i = 0; i < pixels; i++) x[i] = tvm_pulp_some_values(from[i] + at, part);
      UNROLL for (int32_t b = 0; b < some; b++) {
        UNROLL for (int32_t v = 0; v < TVM_PULP_VECTORS; v++) {
          const tvm_pulp_weights w = tvm_pulp_some_weights(weight + b * one_block + part * PART + v * VECTOR);
          UNROLL for (int32_t i = 0; i < pixels; i++) {
            sum[i][b][v] = tvm_pulp_dot(sum[i][b][v], x[i], w, part);
            TVM_PULP_KEEP_IN_PLACE(sum[i][b][v]);
          }
        }
      }
    }
    at += TVM_PULP_DEPTH / TVM_PULP_LANE;
    weight += BYTES;
  } while (at < lanes);
  UNROLL for (int32_t b = 0; b < some; b++) {
    if (saturation == TVM_PULP_S32) {
      UNROLL for (int32_t i = 0; i < pixels; i++) tvm_pulp_store_sums((int32_t *)(void *)(y[i] + b * result), sum[i][b]);
    } else {
      tvm_pulp_block_results made[TVM_PULP_PIXELS];
      UNROLL for (int32_t i = 0; i < pixels; i++) made[i] = tvm_pulp_results_of(sum[i][b], scale + b * words, saturation);
      UNROLL for (int32_t i = 0; i < pixels; i++) tvm_pulp_store_results(y[i] + b * result, made[i]);
    }
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
