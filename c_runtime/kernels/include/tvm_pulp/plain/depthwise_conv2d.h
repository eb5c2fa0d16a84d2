/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution in plain C. */
#ifndef TVM_PULP_PLAIN_DEPTHWISE_CONV2D_H
#define TVM_PULP_PLAIN_DEPTHWISE_CONV2D_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/plain/window.h"
#include "tvm_pulp/work_share.h"

/* Sum of one output channel at one output position. */
static inline int32_t tvm_pulp_plain_depthwise_sum(const struct tvm_pulp_depthwise_conv2d_args *args, uint32_t oy,
                                                   uint32_t ox, uint32_t out) {
  const uint32_t row_bytes = tvm_pulp_depthwise_row_bytes(args->kernel_width, args->stride_x);
  const int8_t *weight = args->weight + (uintptr_t)out * args->kernel_height * row_bytes;
  int32_t acc = args->bias[out];
  for (uint32_t ky = 0; ky < args->kernel_height; ++ky) {
    uint32_t iy = tvm_pulp_window_at(oy, args->stride_y, ky, args->dilation_y, args->pad_top);
    for (uint32_t kx = 0; kx < args->kernel_width; ++kx) {
      uint32_t ix = tvm_pulp_window_at(ox, args->stride_x, kx, args->dilation_x, args->pad_left);
      int inside = iy < args->height && ix < args->width;
      uint32_t at = iy * args->x_row_stride + ix * args->x_pixel_stride + out / args->multiplier;
      acc += (inside ? tvm_pulp_load(args->x, at, args->x_type) : args->pad_value) * weight[ky * row_bytes + kx];
    }
  }
  return acc;
}

static inline void tvm_pulp_plain_depthwise_conv2d(const struct tvm_pulp_depthwise_conv2d_args *args, uint32_t core,
                                                   uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->out_height * args->out_width, core, cores);
  for (uint32_t pixel = range.begin; pixel < range.end; ++pixel) {
    uint32_t oy = pixel / args->out_width, ox = pixel % args->out_width;
    uint8_t *y = (uint8_t *)args->y + oy * args->y_row_stride + ox * args->y_pixel_stride;
    for (uint32_t c = 0; c < args->channels * args->multiplier; ++c) {
      tvm_pulp_finish(&args->requant, y, c, tvm_pulp_plain_depthwise_sum(args, oy, ox, c), c);
    }
  }
}

#endif /* TVM_PULP_PLAIN_DEPTHWISE_CONV2D_H */
