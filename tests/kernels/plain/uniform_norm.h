/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalizations with one weight. */
#ifndef TVM_PULP_TWIN_UNIFORM_NORM_H
#define TVM_PULP_TWIN_UNIFORM_NORM_H

#include "tvm_pulp/plain/norm.h"

static inline void tvm_pulp_plain_uniform_norm(const struct tvm_pulp_uniform_norm_args *args, uint32_t core,
                                               uint32_t cores) {
  uint32_t columns = args->columns;
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    uint32_t first = row * columns, last = first + columns;
    int32_t squares = 0;
    for (uint32_t i = first; i < last; ++i) {
      int32_t x = tvm_pulp_load(args->x, i, args->x_type);
      squares += x * x;
    }
    int32_t factor = args->factors[tvm_pulp_isqrt(squares / (int32_t)columns + 1)];
    for (uint32_t i = first; i < last; ++i) {
      int32_t value = tvm_pulp_load(args->x, i, args->x_type) * factor + args->add;
      tvm_pulp_store_level(args->y, i, value >> args->shift, args->levels);
    }
  }
}

#endif /* TVM_PULP_TWIN_UNIFORM_NORM_H */
