/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of rows of bytes, in plain C. */
#ifndef TVM_PULP_TWIN_ROW_SUMS_H
#define TVM_PULP_TWIN_ROW_SUMS_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_row_sums(const struct tvm_pulp_row_sums_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->matrices * args->rows, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    uintptr_t matrix = at / args->rows, row = at - matrix * args->rows;
    int32_t sum = args->add;
    for (uint32_t i = 0; i < args->depth; ++i) {
      sum += tvm_pulp_load(args->x + matrix * args->x_matrix_stride + row * args->x_stride, i, args->x_type);
    }
    args->y[matrix * args->y_stride + row] = args->factor * sum;
  }
}

#endif /* TVM_PULP_TWIN_ROW_SUMS_H */
