/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling in plain C. */
#ifndef TVM_PULP_PLAIN_POOL_H
#define TVM_PULP_PLAIN_POOL_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/plain/window.h"
#include "tvm_pulp/work_share.h"

/* One output: maximum (average = 0) or rounded average of the window. */
static inline int32_t tvm_pulp_plain_pool_window(const struct tvm_pulp_pool_args *args, uint32_t oy, uint32_t ox,
                                                 uint32_t channel, uint32_t average) {
  int32_t total = 0, count = 0, best = args->x_type == TVM_PULP_UINT8 ? 0 : -128;
  for (uint32_t ky = 0; ky < args->kernel_height; ++ky) {
    uint32_t iy = tvm_pulp_window_at(oy, args->stride_y, ky, args->dilation_y, args->pad_top);
    for (uint32_t kx = 0; kx < args->kernel_width; ++kx) {
      uint32_t ix = tvm_pulp_window_at(ox, args->stride_x, kx, args->dilation_x, args->pad_left);
      if (iy >= args->height || ix >= args->width) continue;
      int32_t x = tvm_pulp_load(args->x, (iy * args->width + ix) * args->channels + channel, args->x_type);
      best = tvm_pulp_max(best, x);
      total += x;
      ++count;
    }
  }
  return average ? tvm_pulp_clip(tvm_pulp_round_divide_32(total, count), args->low, args->high) : best;
}

static inline void tvm_pulp_plain_pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores,
                                       uint32_t average) {
  struct tvm_pulp_range range = tvm_pulp_share(args->out_height * args->out_width * args->channels, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    uint32_t pixel = at / args->channels, oy = pixel / args->out_width, ox = pixel % args->out_width;
    args->y[at] = (int8_t)tvm_pulp_plain_pool_window(args, oy, ox, at % args->channels, average);
  }
}

#endif /* TVM_PULP_PLAIN_POOL_H */
