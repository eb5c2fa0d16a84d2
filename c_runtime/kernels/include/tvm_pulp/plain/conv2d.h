/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution in plain C. */
#ifndef TVM_PULP_PLAIN_CONV2D_H
#define TVM_PULP_PLAIN_CONV2D_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/plain/window.h"
#include "tvm_pulp/work_share.h"

/* Sum of one kernel row at one output position. */
static inline int32_t tvm_pulp_plain_conv2d_row(const struct tvm_pulp_conv2d_args *args, uint32_t channel,
                                                uint32_t ky, uint32_t iy, uint32_t ox) {
  int32_t acc = 0;
  for (uint32_t kx = 0; kx < args->kernel_width; ++kx) {
    uint32_t ix = tvm_pulp_window_at(ox, args->stride_x, kx, args->dilation_x, args->pad_left);
    int inside = iy < args->height && ix < args->width;
    const void *x = args->x + (inside ? (uintptr_t)(iy * args->width + ix) * args->channels : 0u);
    for (uint32_t c = 0; c < args->channels; ++c) {
      uint32_t k = (ky * args->kernel_width + kx) * args->channels + c;
      uint32_t at = tvm_pulp_packed_at(channel, k, args->out_channels, args->depth_stride);
      int32_t weight = args->weight[at] + args->weight_offset;
      acc += (inside ? tvm_pulp_load(x, c, args->x_type) : args->pad_value) * weight;
    }
  }
  return acc;
}

static inline void tvm_pulp_plain_conv2d(const struct tvm_pulp_conv2d_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->out_height * args->out_width, core, cores);
  for (uint32_t pixel = range.begin; pixel < range.end; ++pixel) {
    uint32_t oy = pixel / args->out_width, ox = pixel % args->out_width;
    void *y = tvm_pulp_out_row(args->y, pixel, args->y_pixel_stride);
    for (uint32_t k = 0; k < args->out_channels; ++k) {
      int32_t acc = args->bias[k];
      for (uint32_t ky = 0; ky < args->kernel_height; ++ky) {
        uint32_t iy = tvm_pulp_window_at(oy, args->stride_y, ky, args->dilation_y, args->pad_top);
        acc += tvm_pulp_plain_conv2d_row(args, k, ky, iy, ox);
      }
      tvm_pulp_finish(&args->requant, y, k, acc, k);
    }
  }
}

#endif /* TVM_PULP_PLAIN_CONV2D_H */
