/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows of four output pixels, or more where the scratch area has room, are laid out there and multiplied with the
 * packed weights. A 1 x 1 convolution reads the image where it is. Work is shared in tiles of four pixels and four
 * output channels. */
#include "conv_window.h"
#include "tile.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

/* Pixels that are rows of the matrix product as they lie in memory. */
static uint32_t is_direct(const struct tvm_pulp_conv2d_args *args) {
  return args->kernel_height == 1u && args->kernel_width == 1u && args->stride_y == 1u && args->stride_x == 1u &&
         args->pad_top == 0u && args->pad_left == 0u && args->out_width == args->width &&
         args->out_height <= args->height && args->channels == args->depth_stride &&
         ((uintptr_t)args->x & 3u) == 0u;
}

TVM_PULP_KERNEL(conv2d) {
  uint32_t column_tiles = (args->out_channels + 3u) >> 2, pixels = args->out_height * args->out_width;
  struct tvm_pulp_range range = tvm_pulp_share(((pixels + 3u) >> 2) * column_tiles, core, cores);
  uint32_t left = range.end - range.begin;
  if (left == 0u) return;
  uint32_t first = range.begin / column_tiles, begin = range.begin - first * column_tiles;
  first *= 4u;
  uint32_t direct = is_direct(args), oy = 0, ox = first, most = pixels;
  struct tvm_pulp_conv_windows windows;
  if (!direct) {
    tvm_pulp_prepare_windows(&windows, args);
    most = (args->scratch_stride - 4u) / args->depth_stride;
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
    if (begin == 0u) {
      for (; left >= column_tiles && remaining >= rows + 4u && rows + 4u <= most; left -= column_tiles) rows += 4u;
    }
    if (direct) {
      a = args->x + first * args->channels;
    } else {
      tvm_pulp_lay_windows(&windows, scratch, rows, oy, ox);
      for (ox += rows; ox >= args->out_width; ox -= args->out_width) ++oy;
    }
    uint8_t *y = (uint8_t *)args->y + first * args->y_pixel_stride;
    if (args->weight_offset) {
      uint32_t depth = args->kernel_height * args->kernel_width * args->channels;
      tvm_pulp_tiles_run_summed(&tiles, a, rows, begin, end, y, args->y_pixel_stride, depth, args->weight_offset);
    } else {
      tvm_pulp_tiles_run(&tiles, a, rows, begin, end, y, args->y_pixel_stride);
    }
    if (left == 0u) return;
    begin = 0;
    first += rows;
  }
}
