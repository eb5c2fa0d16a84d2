/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of the inputs that an engine leaves out, in plain C. */
#ifndef TVM_PULP_TWIN_BIAS_OF_REST_H
#define TVM_PULP_TWIN_BIAS_OF_REST_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_bias_of_rest(const struct tvm_pulp_bias_of_rest_args *args, uint32_t core,
                                               uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->columns, core, cores);
  for (uint32_t column = range.begin; column < range.end; ++column) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < args->depth; ++k) {
      const int8_t *fours = args->weight + (k >> 2) * 4u * args->columns;
      sum += tvm_pulp_load(args->x, k, args->x_type) * fours[4u * column + (k & 3u)];
    }
    uint32_t scaled = (uint32_t)sum * (uint32_t)tvm_pulp_load(args->scale, column, args->scale_type);
    args->y[column] = (int32_t)(scaled + (uint32_t)args->bias[column]);
  }
}

#endif /* TVM_PULP_TWIN_BIAS_OF_REST_H */
