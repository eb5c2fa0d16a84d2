/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows of four output pixels are laid out in the scratch area, then multiplied with the packed weights. A 1 x 1
 * convolution reads the image where it is. Work is shared in tiles of four pixels and four output channels. */
#include "tile.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

static void fill(uint8_t *target, uint32_t bytes, uint32_t pattern) {
  for (uint32_t i = 0; i < bytes; i += 4u) tvm_pulp_xp_put_word(target + i, (int32_t)pattern);
}

/* Copies and fills write whole words: the next piece, or the slack behind the window, takes what is too much. */
static void copy(uint8_t *target, const int8_t *source, uint32_t bytes) {
  tvm_pulp_copy_words(target, source, (bytes + 3u) >> 2);
}

/* One kernel row of one window. */
static void lay_row(const struct tvm_pulp_conv2d_args *args, uint8_t *target, uint32_t iy, uint32_t left_edge,
                    uint32_t pattern) {
  uint32_t channels = args->channels, pixels = args->kernel_width;
  if (iy >= args->height) {
    fill(target, pixels * channels, pattern);
    return;
  }
  const int8_t *line = args->x + iy * args->width * args->x_pixel_stride;
  uint32_t dense = args->dilation_x == 1u && args->x_pixel_stride == channels;
  if (dense && left_edge < args->width && left_edge + pixels <= args->width) {
    copy(target, line + left_edge * channels, pixels * channels);
    return;
  }
  for (uint32_t kx = 0; kx < pixels; ++kx, target += channels, left_edge += args->dilation_x) {
    if (left_edge < args->width) {
      copy(target, line + left_edge * args->x_pixel_stride, channels);
    } else {
      fill(target, channels, pattern);
    }
  }
}

static void lay_window(const struct tvm_pulp_conv2d_args *args, uint8_t *target, uint32_t oy, uint32_t ox) {
  uint32_t pattern = (uint32_t)(uint8_t)args->pad_value * 0x01010101u;
  uint32_t iy = oy * args->stride_y - args->pad_top, ix = ox * args->stride_x - args->pad_left;
  uint32_t row_bytes = args->kernel_width * args->channels;
  for (uint32_t ky = 0; ky < args->kernel_height; ++ky, target += row_bytes, iy += args->dilation_y) {
    lay_row(args, target, iy, ix, pattern);
  }
}

/* Pixels that are rows of the matrix product as they lie in memory. */
static uint32_t is_direct(const struct tvm_pulp_conv2d_args *args) {
  return args->kernel_height == 1u && args->kernel_width == 1u && args->stride_y == 1u && args->stride_x == 1u &&
         args->pad_top == 0u && args->pad_left == 0u && args->out_width == args->width &&
         args->out_height <= args->height && args->x_pixel_stride == args->depth_stride &&
         ((uintptr_t)args->x & 3u) == 0u;
}

TVM_PULP_KERNEL(conv2d) {
  uint32_t column_tiles = (args->out_channels + 3u) >> 2, pixels = args->out_height * args->out_width;
  struct tvm_pulp_range range = tvm_pulp_share(((pixels + 3u) >> 2) * column_tiles, core, cores);
  uint32_t left = range.end - range.begin;
  if (left == 0u) return;
  uint32_t first = range.begin / column_tiles, begin = range.begin - first * column_tiles;
  first *= 4u;
  uint32_t direct = is_direct(args), oy = 0, ox = first;
  if (!direct) {
    oy = first / args->out_width;
    ox = first - oy * args->out_width;
  }
  struct tvm_pulp_tiles tiles;
  tvm_pulp_tiles_prepare(&tiles, args->weight, args->bias, args->out_channels, args->depth_stride, args->x_type,
                         &args->requant);
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  for (;;) {
    uint32_t end = begin + left < column_tiles ? begin + left : column_tiles;
    uint32_t remaining = pixels - first, rows = remaining < 4u ? remaining : 4u;
    left -= end - begin;
    const int8_t *a = (const int8_t *)scratch;
    if (direct) {
      a = args->x + first * args->x_pixel_stride;
      if (begin == 0u) {
        for (; left >= column_tiles && remaining >= rows + 4u; left -= column_tiles) rows += 4u;
      }
    } else {
      for (uint32_t row = 0; row < rows; ++row) {
        lay_window(args, scratch + row * args->depth_stride, oy, ox);
        if (++ox == args->out_width) {
          ox = 0;
          ++oy;
        }
      }
    }
    uint8_t *y = (uint8_t *)args->y + first * args->y_pixel_stride;
    tvm_pulp_tiles_run(&tiles, a, rows, begin, end, y, args->y_pixel_stride);
    if (left == 0u) return;
    begin = 0;
    first += rows;
  }
}
