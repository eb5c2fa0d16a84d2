/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocked products of 8-bit values: TVM_PULP_PIXELS pixels times TVM_PULP_CHANNELS channels at once. Each kind of core
 * brings `lanes.h`, which says how values of pixels lie in a patch, and the functions that are declared here.
 *
 * Weights are packed by the compiler in the order of use, a block of channels after the other, depths of a multiple of
 * TVM_PULP_DEPTH; zero points of inputs are part of the constants. A result is
 *
 *   saturate((add + high(sum << shift, multiply)) >> 16)      high: the upper 32 bits of the product
 *
 * whose constants the compiler has compared with the rule of the network for every sum that can occur. */
#ifndef TVM_PULP_PRODUCT_H
#define TVM_PULP_PRODUCT_H

#include <stdint.h>

#include "lanes.h"

struct tvm_pulp_product {
  const tvm_pulp_lane *patch; /* values of the pixels, see lanes.h */
  const int8_t *weight;
  const int32_t *scale; /* constants of the rule, in the order of use */
  void *y[TVM_PULP_PIXELS];
  int32_t depth;
  int32_t blocks; /* of channels */
};

/* Results in the type after `product_`: 8 bits signed, unsigned, 7 bits unsigned; sums themselves.
 *
 * `scale` holds for each block of channels what their sums begin with, then of each channel
 *
 *   _s8, _u8, _u7   shift, multiply, add
 *   _s8_away        shift, multiply, add, less: a rule that rounds negative numbers in another way, `less` is added to
 *                   `add` below zero
 *   _s32            nothing */
#define TVM_PULP_PRODUCTS(kind)                                                 \
  void tvm_pulp_product##kind##s8(const struct tvm_pulp_product *product);      \
  void tvm_pulp_product##kind##u8(const struct tvm_pulp_product *product);      \
  void tvm_pulp_product##kind##u7(const struct tvm_pulp_product *product);      \
  void tvm_pulp_product##kind##s8_away(const struct tvm_pulp_product *product); \
  void tvm_pulp_product##kind##s32(const struct tvm_pulp_product *product);
TVM_PULP_PRODUCTS(_)
/* The same for one pixel, whose patch is that of tvm_pulp_put_one. */
TVM_PULP_PRODUCTS(_one_)
/* With weights of 16 bits, where a core has such functions. */
TVM_PULP_PRODUCTS(_wide_)
TVM_PULP_PRODUCTS(_wide_one_)

#endif /* TVM_PULP_PRODUCT_H */
