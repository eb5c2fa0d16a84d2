/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax with tabulated exponentials in plain C. */
#ifndef TVM_PULP_PLAIN_SOFTMAX_H
#define TVM_PULP_PLAIN_SOFTMAX_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

TVM_PULP_INLINE int32_t tvm_pulp_row_maximum(const void *x, uint32_t columns, uint32_t type) {
  int32_t best = tvm_pulp_load(x, 0, type);
  for (uint32_t i = 1; i < columns; ++i) best = tvm_pulp_max(best, tvm_pulp_load(x, i, type));
  return best;
}

static inline void tvm_pulp_plain_i_softmax(const struct tvm_pulp_i_softmax_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    const void *x = tvm_pulp_row(args->x, row, args->columns);
    uint8_t *y = args->y + (uintptr_t)row * args->columns;
    int32_t lowest = tvm_pulp_row_maximum(x, args->columns, args->x_type) - 255;
    uint32_t total = 0;
    for (uint32_t i = 0; i < args->columns; ++i) {
      total += args->table[tvm_pulp_load(x, i, args->x_type) - lowest] - 1u;
    }
    total /= args->levels - 1u;
    for (uint32_t i = 0; i < args->columns; ++i) {
      y[i] = (uint8_t)((args->table[tvm_pulp_load(x, i, args->x_type) - lowest] - 1u) / total);
    }
  }
}

#endif /* TVM_PULP_PLAIN_SOFTMAX_H */
