/* SPDX-License-Identifier: Apache-2.0
 *
 * Requantized sums of windows in plain C. */
#ifndef TVM_PULP_PLAIN_MEAN_POOL_H
#define TVM_PULP_PLAIN_MEAN_POOL_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/plain/window.h"
#include "tvm_pulp/work_share.h"

static inline int32_t tvm_pulp_plain_window_sum(const struct tvm_pulp_mean_pool_args *args, uint32_t oy, uint32_t ox,
                                                uint32_t channel, uint32_t *count) {
  const struct tvm_pulp_pool_args *p = &args->pool;
  int32_t total = 0;
  *count = 0;
  for (uint32_t ky = 0; ky < p->kernel_height; ++ky) {
    uint32_t iy = tvm_pulp_window_at(oy, p->stride_y, ky, p->dilation_y, p->pad_top);
    for (uint32_t kx = 0; kx < p->kernel_width; ++kx) {
      uint32_t ix = tvm_pulp_window_at(ox, p->stride_x, kx, p->dilation_x, p->pad_left);
      if (iy >= p->height || ix >= p->width) continue;
      ++*count;
      total += tvm_pulp_load(p->x, (iy * p->width + ix) * p->channels + channel, p->x_type) - args->zero_point;
    }
  }
  return total;
}

static inline void tvm_pulp_plain_mean_pool(const struct tvm_pulp_mean_pool_args *args, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_pool_args *p = &args->pool;
  struct tvm_pulp_range range = tvm_pulp_share(p->out_height * p->out_width * p->channels, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    uint32_t pixel = at / p->channels, oy = pixel / p->out_width, ox = pixel % p->out_width;
    uint32_t count;
    int32_t total = tvm_pulp_plain_window_sum(args, oy, ox, at % p->channels, &count);
    tvm_pulp_finish(&args->requant, p->y, at, total, count);
  }
}

#endif /* TVM_PULP_PLAIN_MEAN_POOL_H */
