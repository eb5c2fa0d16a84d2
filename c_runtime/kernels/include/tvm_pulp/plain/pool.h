/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling in plain C. */
#ifndef TVM_PULP_PLAIN_POOL_H
#define TVM_PULP_PLAIN_POOL_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/plain/window.h"
#include "tvm_pulp/work_share.h"

/* What is inside of a window, of one channel. */
struct tvm_pulp_window_values {
  int32_t total, count, best;
};

TVM_PULP_INLINE struct tvm_pulp_window_values tvm_pulp_plain_window(const struct tvm_pulp_pool_args *args, uint32_t oy,
                                                                    uint32_t ox, uint32_t channel) {
  struct tvm_pulp_window_values v = {0, 0, args->x_type == TVM_PULP_UINT8 ? 0 : -128};
  for (uint32_t ky = 0; ky < args->kernel_height; ++ky) {
    uint32_t iy = tvm_pulp_window_at(oy, args->stride_y, ky, args->dilation_y, args->pad_top);
    for (uint32_t kx = 0; kx < args->kernel_width; ++kx) {
      uint32_t ix = tvm_pulp_window_at(ox, args->stride_x, kx, args->dilation_x, args->pad_left);
      if (iy >= args->height || ix >= args->width) continue;
      int32_t x = tvm_pulp_load(args->x, (iy * args->width + ix) * args->channels + channel, args->x_type);
      v.best = tvm_pulp_max(v.best, x);
      v.total += x;
      ++v.count;
    }
  }
  return v;
}

/* Maxima (average = 0) or rounded averages of windows. */
static inline void tvm_pulp_plain_pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores,
                                       uint32_t average) {
  struct tvm_pulp_range range = tvm_pulp_share(args->out_height * args->out_width * args->channels, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    uint32_t pixel = at / args->channels, oy = pixel / args->out_width, ox = pixel % args->out_width;
    const struct tvm_pulp_window_values v = tvm_pulp_plain_window(args, oy, ox, at % args->channels);
    int32_t y = v.best;
    if (average) y = tvm_pulp_clip(tvm_pulp_round_divide_32(v.total, v.count), args->low, args->high);
    args->y[at] = (int8_t)y;
  }
}

#endif /* TVM_PULP_PLAIN_POOL_H */
