/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows times packed weights: blocks of four rows and four columns, shared by all cores. */
#include "tvm_pulp/plain/dense.h"

#include "product.h"

/* Each core has a copy of the arguments, as in conv2d. */
static void run(const struct tvm_pulp_dense_args *args, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_blocks blocks = {args->weight, args->bias,     args->columns, args->depth_stride,
                                         args->x_type, args->y_stride, args->requant};
  if (args->x_type > TVM_PULP_UINT8 || args->weight_offset != 0) {
    tvm_pulp_plain_dense(args, core, cores);
    return;
  }
  if (((uintptr_t)args->x & 3u) == 0u && (args->rows == 1u || (args->x_stride & 3u) == 0u)) {
    tvm_pulp_multiply_in_place(&blocks, args->x, args->x_stride, args->rows, args->y, core, cores);
    return;
  }
  const uint32_t column_blocks = (args->columns + 3u) >> 2;
  const struct tvm_pulp_range share = tvm_pulp_share((args->rows + 3u) >> 2, core, cores);
  for (uint32_t row = TVM_PULP_BLOCK * share.begin; row < TVM_PULP_BLOCK * share.end && row < args->rows;
       row += TVM_PULP_BLOCK) {
    const uint32_t left = args->rows - row, count = left < TVM_PULP_BLOCK ? left : TVM_PULP_BLOCK;
    const int8_t *x = tvm_pulp_stage_rows(tvm_pulp_row(args->x, row, args->x_stride), args->x_stride, args->depth,
                                          count, args->scratch + core * args->scratch_stride);
    for (uint32_t block = 0; block < column_blocks; block++)
      tvm_pulp_multiply_block(&blocks, x, args->depth_stride, count, block,
                              tvm_pulp_out_row(args->y, row, args->y_stride));
  }
}

TVM_PULP_KERNEL(dense) {
  const struct tvm_pulp_dense_args own = *args;
  run(&own, core, cores);
}
