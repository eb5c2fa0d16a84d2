/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense layer with weights of four bits in plain C. */
#ifndef TVM_PULP_TWIN_NIBBLE_DENSE_H
#define TVM_PULP_TWIN_NIBBLE_DENSE_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_nibble_dense(const struct tvm_pulp_nibble_dense_args *args, uint32_t core,
                                               uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->columns, core, cores);
  for (uint32_t column = range.begin; column < range.end; ++column) {
    int32_t acc = args->bias ? args->bias[column] : 0;
    for (uint32_t k = 0; k < args->depth; ++k) {
      const int8_t *pairs = args->weight + (column & ~3u) / 2u * args->depth + ((column & 2u) << 1);
      int32_t pair = pairs[(k & ~3u) * 2u + (k & 3u)];
      int32_t even = (pair & 15) - 8;
      acc += tvm_pulp_load(args->x, k, args->x_type) * (column & 1u ? (pair - even - 8) / 16 : even);
    }
    tvm_pulp_finish(&args->requant, args->y, column, acc, column);
  }
}

#endif /* TVM_PULP_TWIN_NIBBLE_DENSE_H */
