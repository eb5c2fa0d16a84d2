/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalizations of groups of channels. */
#ifndef TVM_PULP_TWIN_GROUP_NORM_H
#define TVM_PULP_TWIN_GROUP_NORM_H

#include "tvm_pulp/plain/group_norm.h"

static inline void tvm_pulp_plain_group_norm(const struct tvm_pulp_group_norm_args *args, uint32_t core,
                                             uint32_t cores) {
  uint32_t pixels = args->pixels, size = args->channels * pixels;
  struct tvm_pulp_range range = tvm_pulp_share(args->groups, core, cores);
  for (uint32_t group = range.begin; group < range.end; ++group) {
    uint32_t first = group * size, squares = 0, channel = group * args->channels;
    int32_t total = 0;
    for (uint32_t i = 0; i < size; ++i) {
      int32_t x = tvm_pulp_load(args->x, first + i, args->x_type);
      total += x;
      squares += (uint32_t)(x * x);
    }
    float factor = tvm_pulp_group_norm_factor(args, total, squares);
    for (uint32_t i = 0; i < size; ++i) {
      int32_t distance = (int32_t)size * tvm_pulp_load(args->x, first + i, args->x_type) - total;
      uint32_t at = channel + i / pixels;
      args->y[first + i] = (uint8_t)tvm_pulp_group_norm_value(args, distance, factor * args->weight[at], args->bias[at]);
    }
  }
}

#endif /* TVM_PULP_TWIN_GROUP_NORM_H */
