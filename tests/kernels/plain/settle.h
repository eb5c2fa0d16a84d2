/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements that an engine left open. */
#ifndef TVM_PULP_TWIN_SETTLE_H
#define TVM_PULP_TWIN_SETTLE_H

#include "tvm_pulp/plain/settle.h"

static inline void tvm_pulp_plain_settle(const struct tvm_pulp_settle_args *args, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    const struct tvm_pulp_open_row at = tvm_pulp_open_row(args, row);
    for (uint32_t channel = 0; channel < args->columns; ++channel) {
      const uint32_t i = at.begin + channel;
      if (args->y[i] == args->upper[i]) continue;
      int32_t sum = 0;
      if (args->kernel == 3u) {
        sum = tvm_pulp_taps_sum(args, &at, channel);
      } else {
        const int8_t *weight = args->weight + channel * args->depth;
        for (uint32_t k = 0; k < args->depth; ++k) sum += tvm_pulp_load(at.x, k, args->x_type) * weight[k];
      }
      args->y[i] = tvm_pulp_settled(args, sum, channel);
    }
  }
}

#endif /* TVM_PULP_TWIN_SETTLE_H */
