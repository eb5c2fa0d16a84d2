/* SPDX-License-Identifier: Apache-2.0
 *
 * Requantized sums of windows in plain C. */
#ifndef TVM_PULP_PLAIN_MEAN_POOL_H
#define TVM_PULP_PLAIN_MEAN_POOL_H

#include "tvm_pulp/plain/pool.h"

static inline void tvm_pulp_plain_mean_pool(const struct tvm_pulp_mean_pool_args *args, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_pool_args *p = &args->pool;
  struct tvm_pulp_range range = tvm_pulp_share(p->out_height * p->out_width * p->channels, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    uint32_t pixel = at / p->channels, oy = pixel / p->out_width, ox = pixel % p->out_width;
    const struct tvm_pulp_window_values v = tvm_pulp_plain_window(p, oy, ox, at % p->channels);
    tvm_pulp_finish(&args->requant, p->y, at, v.total - v.count * args->zero_point, (uint32_t)v.count);
  }
}

#endif /* TVM_PULP_PLAIN_MEAN_POOL_H */
