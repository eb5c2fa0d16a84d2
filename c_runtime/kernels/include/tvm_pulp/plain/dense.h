/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense layer in plain C. */
#ifndef TVM_PULP_PLAIN_DENSE_H
#define TVM_PULP_PLAIN_DENSE_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_dense(const struct tvm_pulp_dense_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows * args->columns, core, cores);
  for (uint32_t place = range.begin; place < range.end; ++place) {
    uint32_t row = place / args->columns, column = place % args->columns;
    const void *x = tvm_pulp_row(args->x, row, args->x_stride);
    int32_t acc = args->bias ? args->bias[column] : 0;
    uint32_t bytes = tvm_pulp_type_bytes(args->x_type);
    for (uint32_t k = 0; k < args->depth; ++k) {
      uint32_t at = tvm_pulp_packed_at(column, bytes * k, args->columns, args->depth_stride);
      const int8_t *weight = args->weight + at;
      int32_t value = bytes == 2u ? *(const int16_t *)(const void *)weight : *weight;
      acc += tvm_pulp_load(x, k, args->x_type) * (value + args->weight_offset);
    }
    tvm_pulp_finish(&args->requant, tvm_pulp_out_row(args->y, row, args->y_stride), column, acc, column);
  }
}

#endif /* TVM_PULP_PLAIN_DENSE_H */
