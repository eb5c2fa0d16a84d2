/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution: the windows of four pixels are laid beside each other in scratch, then meet four columns at a time. */
#include "tvm_pulp/plain/conv2d.h"

#include "block.h"

static void fill(uint8_t *row, uint32_t k, uint32_t count, int32_t value) {
  for (; count != 0u; count--, k++) *tvm_pulp_laid_at(row, k) = (uint8_t)value;
}

/* One row of a window, to byte k: pixels from `ix` on, some of which may be outside the image. */
static void lay_out_row(const struct tvm_pulp_conv2d_args *args, uint8_t *row, uint32_t k, const uint8_t *line,
                        uint32_t ix) {
  const uint32_t channels = args->channels;
  if (args->dilation_x == 1u && ix < args->width && ix + args->kernel_width <= args->width) {
    tvm_pulp_lay(row, k, line + ix * channels, args->kernel_width * channels);
    return;
  }
  for (uint32_t kx = 0; kx < args->kernel_width; kx++, ix += args->dilation_x, k += channels) {
    if (ix < args->width) tvm_pulp_lay(row, k, line + ix * channels, channels);
    else fill(row, k, channels, args->pad_value);
  }
}

static void lay_out(const struct tvm_pulp_conv2d_args *args, uint8_t *row, uint32_t oy, uint32_t ox) {
  const uint32_t ix = tvm_pulp_window_at(ox, args->stride_x, 0, 1, args->pad_left);
  const uint32_t row_bytes = args->kernel_width * args->channels;
  for (uint32_t ky = 0; ky < args->kernel_height; ky++) {
    const uint32_t iy = tvm_pulp_window_at(oy, args->stride_y, ky, args->dilation_y, args->pad_top);
    const uint8_t *const line = (const uint8_t *)args->x + (uintptr_t)iy * args->width * args->channels;
    if (iy < args->height) lay_out_row(args, row, ky * row_bytes, line, ix);
    else fill(row, ky * row_bytes, row_bytes, args->pad_value);
  }
}

/* Cores share blocks of four pixels. */
TVM_PULP_KERNEL(conv2d) {
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  const uint32_t pixels = args->out_height * args->out_width;
  const uint32_t depth = args->kernel_height * args->kernel_width * args->channels;
  const struct tvm_pulp_range share = tvm_pulp_share((pixels + 3u) >> 2, core, cores);
  uint32_t pixel = TVM_PULP_BLOCK * share.begin, oy = pixel / args->out_width, ox = pixel % args->out_width;
  if (share.begin < share.end) tvm_pulp_clear_rest(scratch, pixels - pixel, depth);
  for (uint32_t block = share.begin; block < share.end; block++) {
    const uint32_t left = pixels - pixel, count = left < TVM_PULP_BLOCK ? left : TVM_PULP_BLOCK;
    uint8_t *y = tvm_pulp_out_row(args->y, pixel, args->y_pixel_stride);
    for (uint32_t i = 0; i < count; i++) {
      lay_out(args, scratch + 4u * i, oy, ox);
      if (++ox == args->out_width) ox = 0, oy++;
    }
    tvm_pulp_multiply_rows(scratch, count, args->weight, args->bias, args->out_channels, depth, args->x_type,
                           args->weight_offset, &args->requant, y, args->y_pixel_stride);
    pixel += count;
  }
}
