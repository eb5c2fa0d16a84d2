/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_window.h"

#include "short_rows.h"
#include "tile.h"
#include "tvm_pulp/xpulp.h"

/* Copies and fills write whole words: the next piece, or the slack behind the window, takes what is too much. */
static void fill(uint8_t *target, uint32_t bytes, uint32_t pattern) {
  for (uint32_t i = 0; i < bytes; i += 4u) tvm_pulp_xp_put_word(target + i, (int32_t)pattern);
}

static void copy(uint8_t *target, const int8_t *source, uint32_t bytes) {
  tvm_pulp_copy_words(target, source, (bytes + 3u) >> 2);
}

void tvm_pulp_prepare_windows(struct tvm_pulp_conv_windows *windows, const struct tvm_pulp_conv2d_args *args) {
  windows->args = args;
  windows->pattern = (uint32_t)(uint8_t)args->pad_value * 0x01010101u;
  windows->row_bytes = args->kernel_width * args->channels;
  windows->line_bytes = args->width * args->channels;
  windows->is_dense = args->dilation_x == 1u;
  windows->is_short = windows->row_bytes >= TVM_PULP_SHORTEST_ROW && windows->row_bytes <= TVM_PULP_LONGEST_SHORT_ROW;
  windows->end_y = windows->end_x = windows->end_ox = 0;
  if (windows->is_dense && args->dilation_y == 1u && args->height >= args->kernel_height &&
      args->width >= args->kernel_width) {
    windows->end_y = args->height - args->kernel_height + 1u;
    windows->end_x = args->width - args->kernel_width + 1u;
    windows->end_ox = (args->width - args->kernel_width + args->pad_left) / args->stride_x + 1u;
    if (windows->end_ox > args->out_width) windows->end_ox = args->out_width;
  }
}

/* Kernel rows whose pixels are neighbours: what lies before, in and behind the image. */
static void lay_pieces(const struct tvm_pulp_conv_windows *windows, uint8_t *target, uint32_t iy, int32_t ix) {
  const struct tvm_pulp_conv2d_args *args = windows->args;
  uint32_t channels = args->channels, height = args->height, bytes = windows->row_bytes, pattern = windows->pattern;
  int32_t columns = (int32_t)args->kernel_width, over = ix + columns - (int32_t)args->width;
  uint32_t before = (uint32_t)tvm_pulp_xp_min(tvm_pulp_xp_max(-ix, 0), columns) * channels;
  uint32_t behind = (uint32_t)tvm_pulp_xp_min(tvm_pulp_xp_max(over, 0), columns) * channels;
  uint32_t inside = bytes - before - behind;
  const int8_t *from = args->x + (uint32_t)(ix > 0 ? ix : 0) * channels;
  for (uint32_t ky = args->kernel_height; ky > 0u; --ky, target += bytes, iy += args->dilation_y) {
    if (iy >= height) {
      fill(target, bytes, pattern);
      continue;
    }
    fill(target, before, pattern);
    if (inside) copy(target + before, from + iy * windows->line_bytes, inside);
    fill(target + before + inside, behind, pattern);
  }
}

static void lay_pixels(const struct tvm_pulp_conv_windows *windows, uint8_t *target, uint32_t iy, uint32_t ix) {
  const struct tvm_pulp_conv2d_args *args = windows->args;
  for (uint32_t ky = 0; ky < args->kernel_height; ++ky, iy += args->dilation_y) {
    const int8_t *line = args->x + iy * windows->line_bytes;
    uint32_t at = ix;
    for (uint32_t kx = 0; kx < args->kernel_width; ++kx, target += args->channels, at += args->dilation_x) {
      if (iy < args->height && at < args->width) {
        copy(target, line + at * args->channels, args->channels);
      } else {
        fill(target, args->channels, windows->pattern);
      }
    }
  }
}

/* Windows of one line that lie in the image; of short kernel rows one of all windows at a time. */
static void lay_inside(const struct tvm_pulp_conv_windows *windows, uint8_t *target, uint32_t count, uint32_t iy,
                       uint32_t ix) {
  const struct tvm_pulp_conv2d_args *args = windows->args;
  uint32_t bytes = windows->row_bytes, step = windows->line_bytes, stride = args->depth_stride;
  uint32_t pixel_step = args->stride_x * args->channels, rows = args->kernel_height;
  const int8_t *from = args->x + iy * step + ix * args->channels;
  if (windows->is_short) {
    for (uint32_t ky = rows; ky > 0u; --ky, target += bytes, from += step) {
      tvm_pulp_copy_short_rows(from, target, bytes, count, pixel_step, stride);
    }
    return;
  }
  for (; count > 0u; --count, target += stride, from += pixel_step) {
    uint8_t *to = target;
    const int8_t *row = from;
    for (uint32_t ky = rows; ky > 0u; --ky, to += bytes, row += step) copy(to, row, bytes);
  }
}

void tvm_pulp_lay_windows(const struct tvm_pulp_conv_windows *windows, uint8_t *target, uint32_t count, uint32_t oy,
                          uint32_t ox) {
  const struct tvm_pulp_conv2d_args *args = windows->args;
  while (count > 0u) {
    uint32_t iy = oy * args->stride_y - args->pad_top, ix = ox * args->stride_x - args->pad_left, part = 1;
    if (iy < windows->end_y && ix < windows->end_x) {
      part = windows->end_ox - ox;
      if (part > count) part = count;
      lay_inside(windows, target, part, iy, ix);
    } else if (windows->is_dense) {
      lay_pieces(windows, target, iy, (int32_t)ix);
    } else {
      lay_pixels(windows, target, iy, ix);
    }
    target += part * args->depth_stride;
    count -= part;
    ox += part;
    if (ox == args->out_width) {
      ox = 0;
      ++oy;
    }
  }
}
