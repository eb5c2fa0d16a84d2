/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows times packed weights: four rows are laid beside each other in scratch, then meet four columns at a time. */
#include "tvm_pulp/plain/dense.h"

#include "block.h"
#include "tvm_pulp/scale.h"

/* A row by itself, of whole words. */
static void multiply_row(const struct tvm_pulp_dense_args *args, const uint8_t *x, uint8_t *y) {
  const uint32_t words = args->depth_stride >> 2, bytes = tvm_pulp_result_bytes(&args->requant);
  const int8_t *weight = args->weight;
  for (uint32_t block = 0; TVM_PULP_BLOCK * block < args->columns; block++, weight += 16u * words) {
    const uint32_t first = tvm_pulp_block_column(block, args->columns);
    int32_t sums[TVM_PULP_BLOCK];
    tvm_pulp_block_row(sums, x, weight, words, args->x_type);
    for (uint32_t c = 0; c < TVM_PULP_BLOCK && first + c < args->columns; c++) {
      sums[c] += args->bias ? args->bias[first + c] : 0;
      tvm_pulp_finish_channel(&args->requant, sums + c, 1, 1, y + (first + c) * bytes, 0, first + c);
    }
  }
}

/* Cores share blocks of four rows. */
TVM_PULP_KERNEL(dense) {
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  if (args->x_type > TVM_PULP_UINT8) {
    tvm_pulp_plain_dense(args, core, cores);
    return;
  }
  if (args->rows == 1u && args->weight_offset == 0) {
    if (core == 0u) multiply_row(args, (const uint8_t *)args->x, args->y);
    return;
  }
  const struct tvm_pulp_range share = tvm_pulp_share((args->rows + 3u) >> 2, core, cores);
  if (share.begin < share.end) tvm_pulp_clear_rest(scratch, args->rows - TVM_PULP_BLOCK * share.begin, args->depth);
  for (uint32_t row = TVM_PULP_BLOCK * share.begin; row < TVM_PULP_BLOCK * share.end && row < args->rows;
       row += TVM_PULP_BLOCK) {
    const uint32_t left = args->rows - row, rows = left < TVM_PULP_BLOCK ? left : TVM_PULP_BLOCK;
    for (uint32_t i = 0; i < rows; i++)
      tvm_pulp_lay(scratch + 4u * i, 0, tvm_pulp_row(args->x, row + i, args->x_stride), args->depth);
    tvm_pulp_multiply_rows(scratch, rows, args->weight, args->bias, args->columns, args->depth, args->x_type,
                           args->weight_offset, &args->requant, tvm_pulp_out_row(args->y, row, args->y_stride),
                           args->y_stride);
  }
}
