/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of a depthwise convolution over planes. */
#ifndef TVM_PULP_DEPTHWISE_ROWS_H
#define TVM_PULP_DEPTHWISE_ROWS_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"

/* Three kernel rows of one word, and requantization in the same loop: pulp_narrow, or promised (scaled.h). */
enum tvm_pulp_depthwise_fused { TVM_PULP_NOT_FUSED, TVM_PULP_FUSED, TVM_PULP_FUSED_SCALED };

struct tvm_pulp_planes {
  const struct tvm_pulp_depthwise_conv2d_args *args;
  uint8_t *planes;   /* [rows][4 channels][plane_stride] */
  int32_t *sums;     /* one row of accumulators */
  uint32_t margin;   /* where pixel 0 stands in a row: pad_left rounded up to a word */
  uint32_t first;    /* where the first window starts */
  uint32_t pixels;   /* of an image row that any window reads */
  uint32_t words;    /* of a kernel row */
  uint32_t pad_pattern;
  uint32_t fused;    /* enum tvm_pulp_depthwise_fused */
};

/* Accumulators of output row `row` of plane j, any kernel. */
void tvm_pulp_depthwise_sums(const struct tvm_pulp_planes *p, const int32_t *weight, uint32_t j, uint32_t row,
                             int32_t bias);

/* `count` output rows of plane j, requantized. */
void tvm_pulp_depthwise_three_rows(const struct tvm_pulp_planes *p, uint32_t j, uint32_t channel, uint32_t count,
                                   uint8_t *y);

/* The same with a promised requantization. */
void tvm_pulp_depthwise_three_scaled_rows(const struct tvm_pulp_planes *p, uint32_t j, uint32_t channel, uint32_t count,
                                          uint8_t *y);

#endif /* TVM_PULP_DEPTHWISE_ROWS_H */
