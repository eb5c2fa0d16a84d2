/* SPDX-License-Identifier: Apache-2.0
 *
 * Product of two activations in plain C. */
#ifndef TVM_PULP_TWIN_MATMUL_H
#define TVM_PULP_TWIN_MATMUL_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_matmul(const struct tvm_pulp_matmul_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->batch * args->rows, core, cores);
  for (uint32_t place = range.begin; place < range.end; ++place) {
    uint32_t batch = place / args->rows, row = place % args->rows;
    const void *a = tvm_pulp_row(tvm_pulp_row(args->a, batch, args->a_batch_stride), row, args->a_stride);
    const void *b = tvm_pulp_row(args->b, batch, args->b_batch_stride);
    void *y = tvm_pulp_out_row(tvm_pulp_out_row(args->y, batch, args->y_batch_stride), row, args->y_stride);
    for (uint32_t column = 0; column < args->columns; ++column) {
      int32_t acc = 0;
      for (uint32_t k = 0; k < args->depth; ++k) {
        uint32_t at = args->transpose_b ? column * args->b_stride + k : k * args->b_stride + column;
        acc += (tvm_pulp_load(a, k, args->a_type) - args->zero_point_a) *
               (tvm_pulp_load(b, at, args->b_type) - args->zero_point_b);
      }
      tvm_pulp_finish(&args->requant, y, column, acc, column);
    }
  }
}

#endif /* TVM_PULP_TWIN_MATMUL_H */
