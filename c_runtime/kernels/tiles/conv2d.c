/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution. Pixels of whole words are read where they are: a row of a window is one stretch of memory, and four
 * windows beside each other are four rows of a product. Others are laid out in scratch first. Work is shared in blocks
 * of four pixels of a row and four output channels. */
#include "tvm_pulp/plain/conv2d.h"

#include "product.h"

/* Pixels that are rows of the product as they lie in memory. */
static int is_product(const struct tvm_pulp_conv2d_args *args) {
  return args->kernel_height == 1u && args->kernel_width == 1u && args->stride_y == 1u && args->stride_x == 1u &&
         args->pad_top == 0u && args->pad_left == 0u && args->out_width == args->width &&
         args->out_height <= args->height;
}

/* A tap of one pixel; outside the picture it reads `padding`, if that counts. */
static void add_tap(const struct tvm_pulp_conv2d_args *args, int32_t *sums, const int8_t *line, uint32_t ix,
                    const int8_t *weight, const uint8_t *padding) {
  const uint32_t words = args->channels >> 2;
  if (line != 0 && ix < args->width) tvm_pulp_add_row(sums, line + ix * args->channels, weight, words, args->x_type);
  else if (args->pad_value != 0) tvm_pulp_add_row(sums, padding, weight, words, args->x_type);
}

/* Four windows beside each other: taps from `first` to `last` are inside the picture for all of them. */
static void add_four(const struct tvm_pulp_conv2d_args *args, int32_t *sums, const int8_t *line, uint32_t ix,
                     const int8_t *weight, const uint8_t *padding, uint32_t first, uint32_t last) {
  const uint32_t channels = args->channels;
  tvm_pulp_add_rows(sums, line + (ix + first) * channels, args->stride_x * channels, weight + 4u * first * channels,
                    (last - first) * channels >> 2, args->x_type);
  for (uint32_t kx = 0; kx < args->kernel_width; kx++) {
    if (kx == first) kx = last;
    for (uint32_t i = 0; i < TVM_PULP_BLOCK && kx < args->kernel_width; i++)
      add_tap(args, sums + TVM_PULP_BLOCK * i, line, ix + i * args->stride_x + kx, weight + 4u * kx * channels, padding);
  }
}

static void add_windows(const struct tvm_pulp_conv2d_args *args, int32_t *sums, uint32_t oy, uint32_t ox,
                        uint32_t count, const int8_t *weight, const uint8_t *padding) {
  const uint32_t row_bytes = args->kernel_width * args->channels, ix = ox * args->stride_x - args->pad_left;
  const int32_t left = (int32_t)ix, behind = left + (int32_t)(3u * args->stride_x + args->kernel_width - args->width);
  const uint32_t first = left < 0 ? (uint32_t)-left : 0u;
  const uint32_t last = args->kernel_width - (behind > 0 ? (uint32_t)behind : 0u);
  const int together = count == TVM_PULP_BLOCK && args->dilation_x == 1u && (int32_t)first < (int32_t)last;
  for (uint32_t ky = 0; ky < args->kernel_height; ky++, weight += 4u * row_bytes) {
    const uint32_t iy = tvm_pulp_window_at(oy, args->stride_y, ky, args->dilation_y, args->pad_top);
    const int8_t *line = iy < args->height ? args->x + iy * args->width * args->channels : 0;
    if (line == 0 && args->pad_value == 0) continue;
    if (line != 0 && together) {
      add_four(args, sums, line, ix, weight, padding, first, last);
      continue;
    }
    for (uint32_t i = 0; i < count; i++) {
      for (uint32_t kx = 0; kx < args->kernel_width; kx++)
        add_tap(args, sums + TVM_PULP_BLOCK * i, line, ix + i * args->stride_x + kx * args->dilation_x,
                weight + 4u * kx * args->channels, padding);
    }
  }
}

static uint8_t *fill(uint8_t *to, uint32_t count, int32_t value) {
  for (; count != 0u; count--) *to++ = (uint8_t)value;
  return to;
}

/* Bytes of a row of a window; four are asked for before the first is stored. */
static uint8_t *copy(uint8_t *to, const uint8_t *from, uint32_t count) {
  for (; count >= 4u; count -= 4u, from += 4, to += 4) {
    const uint8_t a = from[0], b = from[1], c = from[2], d = from[3];
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
  }
  for (; count != 0u; count--) *to++ = *from++;
  return to;
}

/* The window of a pixel, one byte after the other. */
static void lay_window(const struct tvm_pulp_conv2d_args *args, uint8_t *to, uint32_t oy, uint32_t ox) {
  const uint8_t *const end = to + args->depth_stride;
  const uint32_t channels = args->channels, first = ox * args->stride_x - args->pad_left;
  const int is_inside = args->dilation_x == 1u && first < args->width && first + args->kernel_width <= args->width;
  for (uint32_t ky = 0; ky < args->kernel_height; ky++) {
    const uint32_t iy = tvm_pulp_window_at(oy, args->stride_y, ky, args->dilation_y, args->pad_top);
    const uint8_t *line = (const uint8_t *)args->x + iy * args->width * channels;
    if (iy >= args->height) {
      to = fill(to, args->kernel_width * channels, args->pad_value);
    } else if (is_inside) {
      to = copy(to, line + first * channels, args->kernel_width * channels);
    } else {
      for (uint32_t kx = 0, ix = first; kx < args->kernel_width; kx++, ix += args->dilation_x)
        to = ix < args->width ? copy(to, line + ix * channels, channels) : fill(to, channels, args->pad_value);
    }
  }
  (void)fill(to, (uint32_t)(end - to), 0);
}

/* Neighbouring cores have neighbouring pixels of the same channels; with every block of channels pixels move on, so
 * that everybody has a part of the borders, which take longer. */
static void convolve_in_place(const struct tvm_pulp_conv2d_args *args, const struct tvm_pulp_blocks *blocks,
                              uint32_t core, uint32_t cores) {
  uint8_t *const padding = args->scratch + core * args->scratch_stride;
  const uint32_t column_blocks = (args->out_channels + 3u) >> 2, fours = (args->out_width + 3u) >> 2;
  const uint32_t together = args->out_height * fours * column_blocks >= cores ? TVM_PULP_BLOCK : 1u;
  const uint32_t row_blocks = together == 1u ? args->out_width : fours, places = args->out_height * row_blocks;
  if (args->pad_value != 0) {
    for (uint32_t c = 0; c < args->channels; c++) padding[c] = (uint8_t)args->pad_value;
  }
  for (uint32_t item = core; item < places * column_blocks; item += cores) {
    const uint32_t block = item / places, place = (item + 3u * block) % places;
    const uint32_t oy = place / row_blocks, ox = (place - oy * row_blocks) * together;
    const uint32_t rest = args->out_width - ox, count = rest < together ? rest : together;
    int32_t sums[TVM_PULP_BLOCK * TVM_PULP_BLOCK];
    tvm_pulp_start_block(blocks, sums, block);
    add_windows(args, sums, oy, ox, count, args->weight + TVM_PULP_BLOCK * block * args->depth_stride, padding);
    tvm_pulp_finish_block(blocks, sums, count, block,
                          tvm_pulp_out_row(args->y, oy * args->out_width + ox, args->y_pixel_stride));
  }
}

/* A core keeps its windows for as many blocks of channels as are its own. */
static void convolve_laid_out(const struct tvm_pulp_conv2d_args *args, const struct tvm_pulp_blocks *blocks,
                              uint32_t core, uint32_t cores) {
  uint8_t *const scratch = args->scratch + core * args->scratch_stride;
  const uint32_t column_blocks = (args->out_channels + 3u) >> 2, fours = (args->out_width + 3u) >> 2;
  const struct tvm_pulp_range share = tvm_pulp_share(args->out_height * fours * column_blocks, core, cores);
  uint32_t laid = UINT32_MAX;
  for (uint32_t item = share.begin; item < share.end; item++) {
    const uint32_t place = item / column_blocks, oy = place / fours, ox = (place - oy * fours) * TVM_PULP_BLOCK;
    const uint32_t rest = args->out_width - ox, count = rest < TVM_PULP_BLOCK ? rest : TVM_PULP_BLOCK;
    for (uint32_t i = 0; i < count && place != laid; i++) lay_window(args, scratch + i * args->depth_stride, oy, ox + i);
    laid = place;
    tvm_pulp_multiply_block(blocks, scratch, args->depth_stride, count, item - place * column_blocks,
                            tvm_pulp_out_row(args->y, oy * args->out_width + ox, args->y_pixel_stride));
  }
}

/* All cores read the same words of the arguments, and a bank serves them one after the other: each makes a copy, which
 * lies in its own tile. */
TVM_PULP_KERNEL(conv2d) {
  const struct tvm_pulp_conv2d_args own = *args;
  const struct tvm_pulp_blocks blocks = {own.weight, own.bias,           own.out_channels, own.depth_stride,
                                         own.x_type, own.y_pixel_stride, own.requant};
  const int in_place = (own.channels & 3u) == 0u && ((uintptr_t)own.x & 3u) == 0u;
  if (own.weight_offset != 0) tvm_pulp_plain_conv2d(&own, core, cores);
  else if (in_place && is_product(&own))
    tvm_pulp_multiply_in_place(&blocks, own.x, own.channels, own.out_height * own.out_width, own.y, core, cores);
  else if (in_place) convolve_in_place(&own, &blocks, core, cores);
  else convolve_laid_out(&own, &blocks, core, cores);
}
