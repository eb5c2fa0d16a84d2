/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense layer with long sums in plain C. */
#ifndef TVM_PULP_TWIN_LONG_DENSE_H
#define TVM_PULP_TWIN_LONG_DENSE_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_long_dense(const struct tvm_pulp_long_dense_args *args, uint32_t core,
                                             uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows * args->columns, core, cores);
  for (uint32_t place = range.begin; place < range.end; ++place) {
    uint32_t row = place / args->columns, column = place % args->columns;
    const void *x = tvm_pulp_row(args->x, row, args->depth_stride);
    int64_t acc = args->bias[column];
    for (uint32_t k = 0; k < args->depth_stride >> 1; ++k) {
      uint32_t at = tvm_pulp_packed_at(column, 2u * k, args->columns, args->depth_stride);
      acc += (int64_t)tvm_pulp_load(x, k, args->x_type) * *(const int16_t *)(const void *)(args->weight + at);
    }
    tvm_pulp_finish_long(&args->requant, tvm_pulp_out_row(args->y, row, args->y_stride), column, acc, column);
  }
}

#endif /* TVM_PULP_TWIN_LONG_DENSE_H */
