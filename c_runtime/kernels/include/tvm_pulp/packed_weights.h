/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a weight of a packed matrix, or of a depthwise kernel, lies. */
#ifndef TVM_PULP_PACKED_WEIGHTS_H
#define TVM_PULP_PACKED_WEIGHTS_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

/* Columns of a block. */
enum { TVM_PULP_BLOCK = 4 };

/* First column of a block: the last one reaches back. */
TVM_PULP_INLINE uint32_t tvm_pulp_block_column(uint32_t block, uint32_t columns) {
  const uint32_t first = TVM_PULP_BLOCK * block;
  return columns < TVM_PULP_BLOCK ? 0u : first + TVM_PULP_BLOCK > columns ? columns - TVM_PULP_BLOCK : first;
}

/* `depth_stride`: the depth rounded up to a multiple of 4. */
TVM_PULP_INLINE uint32_t tvm_pulp_packed_at(uint32_t column, uint32_t k, uint32_t columns, uint32_t depth_stride) {
  uint32_t block = column >> 2, lane = column & 3u;
  /* The last block reaches back. */
  if (columns >= 4u && 4u * block + 4u > columns) lane = column + 4u - columns;
  return block * 4u * depth_stride + (k >> 2) * 16u + lane * 4u + (k & 3u);
}

/* Four neighbouring outputs of a depthwise kernel with rows of some words read words of the picture that overlap:
 * kernels may read each once, and meet it with weights that are moved by the outputs' distance. */
TVM_PULP_INLINE uint32_t tvm_pulp_has_moved_rows(uint32_t kernel_width, uint32_t stride_x) {
  return kernel_width >= 5u && stride_x <= 2u && kernel_width <= 6u + stride_x;
}

/* A row of a depthwise kernel: its weights, zeros behind to whole words. Then, if it has moved rows, the same moved on
 * by stride_x, 2 * stride_x, ... bytes as far as that is less than a word, each in as many words as it meets; six
 * columns with a stride of one are like seven. */
TVM_PULP_INLINE uint32_t tvm_pulp_depthwise_row_bytes(uint32_t kernel_width, uint32_t stride_x) {
  uint32_t bytes = (kernel_width + 3u) & ~3u;
  if (!tvm_pulp_has_moved_rows(kernel_width, stride_x)) return bytes;
  if (stride_x == 2u) return kernel_width <= 6u ? 16u : 20u;
  return kernel_width == 5u ? 32u : 40u;
}

/* Bytes that were made signed are 128 too small, each times its weight. */
TVM_PULP_INLINE int32_t tvm_pulp_bias_of_flipped(const int8_t *row, uint32_t row_bytes, uint32_t height, uint32_t width) {
  int32_t sum = 0;
  for (; height != 0u; height--, row += row_bytes)
    for (uint32_t kx = 0; kx < width; kx++) sum += row[kx];
  return sum * 128;
}

#endif /* TVM_PULP_PACKED_WEIGHTS_H */
