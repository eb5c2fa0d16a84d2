/* SPDX-License-Identifier: Apache-2.0
 *
 * Four channels at a time: the image rows that some output rows need are turned into one plane per channel, four pixels
 * by four channels a step. In a plane the taps of a kernel row are neighbours, so one dot product serves up to four of
 * them. Work is shared in output rows of channel groups. */
#include "depthwise_rows.h"
#include "requantize_block.h"
#include "scaled.h"
#include "turn_pixels.h"
#include "tvm_pulp/elements.h"
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/plain/depthwise_conv2d.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

/* `bytes` is a multiple of 16. */
static void fill(uint8_t *target, uint32_t bytes, uint32_t pattern) {
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_SW("%[v]", 4, "%[t]") XP_SW("%[v]", 4, "%[t]") XP_SW("%[v]", 4, "%[t]")
                       XP_LOOP_END XP_SW("%[v]", 4, "%[t]") XP_END
                   : [t] "+r"(target)
                   : [n] "r"(bytes >> 4), [v] "r"(pattern)
                   : "memory");
}

/* Image row iy of channels [channel, channel + 4) into row `row` of the planes. All planes hold padding at first, and
 * pixels never overwrite that of a row, so only rows outside the image that held pixels need more. */
static void lay_row(struct tvm_pulp_planes *p, uint32_t row, uint32_t iy, uint32_t channel) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  uint8_t *target = p->planes + 4u * row * args->plane_stride;
  uint32_t bit = row < 32u ? 1u << row : 0u;
  if (iy < args->height) {
    p->is_padding &= ~bit;
    tvm_pulp_turn_pixels(target + p->margin, args->plane_stride, args->x + iy * args->x_row_stride + channel,
                         args->x_pixel_stride, p->pixels);
  } else if (!(p->is_padding & bit)) {
    p->is_padding |= bit;
    fill(target, 4u * args->plane_stride, p->pad_pattern);
  }
}

/* Rows of an output channel by sums, as many as there is room for. */
static void compute_by_sums(const struct tvm_pulp_planes *p, struct tvm_pulp_plane_rows rows) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  uint32_t step = args->y_pixel_stride, left = rows.count;
  for (; left > 0u; left -= rows.count) {
    rows.count = left < p->sum_rows ? left : p->sum_rows;
    p->sum(p, &rows);
    const int32_t *sums = rows.sums;
    uint32_t runs = p->is_dense ? 1u : rows.count, each = args->out_width * (p->is_dense ? rows.count : 1u);
    for (uint32_t i = 0; i < runs; ++i, sums += p->sum_width, rows.y += args->y_row_stride) {
      tvm_pulp_requantize_channel(&args->requant, sums, each, rows.y, step, rows.channel);
    }
    rows.x += rows.count * p->next;
    rows.y += (rows.count - runs) * args->y_row_stride;
  }
}

/* `count` output rows of four channels from row oy on. */
static void compute_rows(struct tvm_pulp_planes *p, uint32_t oy, uint32_t count, uint32_t channel) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  uint32_t image_rows = (count - 1u) * args->stride_y + (args->kernel_height - 1u) * args->dilation_y + 1u;
  for (uint32_t row = 0; row < image_rows; ++row) lay_row(p, row, oy * args->stride_y + row - args->pad_top, channel);
  uint32_t result_bytes = tvm_pulp_result_bytes(&args->requant);
  uint32_t weight_bytes = args->kernel_height * p->weight_bytes;
  struct tvm_pulp_plane_rows rows;
  rows.x = p->planes + p->first;
  rows.count = count;
  rows.channels = 1;
  rows.channel = channel * args->multiplier;
  rows.weight = args->weight + rows.channel * weight_bytes;
  rows.y = (uint8_t *)args->y + oy * args->y_row_stride + rows.channel * result_bytes;
  rows.sums = p->sums;
  uint32_t channels = 4u * args->multiplier, sums = count * p->sum_width;
  if (!p->fused && p->is_dense && channels * count <= p->sum_rows) {
    /* All channels at once saves fetching code again. */
    rows.channels = channels;
    p->sum(p, &rows);
    tvm_pulp_requantize_channels(&args->requant, p->sums, sums, channels, rows.y, args->y_pixel_stride, rows.channel);
    return;
  }
  for (uint32_t j = 0; j < 4u; ++j, rows.x += args->plane_stride) {
    for (uint32_t i = 0; i < args->multiplier; ++i) {
      if (p->fused) {
        p->fused(p, &rows);
      } else {
        compute_by_sums(p, rows);
      }
      rows.channel++;
      rows.weight += weight_bytes;
      rows.y += result_bytes;
    }
  }
}

static tvm_pulp_rows fused_of(const struct tvm_pulp_depthwise_conv2d_args *args) {
  const struct tvm_pulp_requant *r = &args->requant;
  if (args->kernel_height != 3u || args->kernel_width > 4u) return 0;
  if (r->kind == TVM_PULP_REQUANT_PULP_NARROW && !r->wide_result && (r->low == 0 || r->low == ~r->high)) {
    return tvm_pulp_depthwise_three_rows;
  }
  /* <float biases> */
  if (tvm_pulp_is_high_word(r)) return tvm_pulp_depthwise_three_high_word_rows;
  /* </float biases> */
  return tvm_pulp_is_scaled(r) ? tvm_pulp_depthwise_three_scaled_rows : 0;
}

/* Where rows are not requantized as they are made: how they are summed. Out of the way of those that are, since code
 * that is not executed need not be fetched. */
static __attribute__((noinline)) void prepare_sums(struct tvm_pulp_planes *p, uint32_t plane_bytes) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  p->sums = (int32_t *)(void *)(p->planes + plane_bytes);
  /* There is room for rows of whole fours. Sums lie closer: what is written behind a row is written over by the next. */
  uint32_t fours = (args->out_width + 3u) & ~3u;
  p->sum_width = args->out_width < 4u ? fours : args->out_width;
  p->is_dense = args->out_width == p->sum_width && args->y_row_stride == args->out_width * args->y_pixel_stride;
  p->sum_rows = (args->scratch_stride - plane_bytes) / (4u * fours);
  p->weight_bytes = tvm_pulp_depthwise_row_bytes(args->kernel_width, args->stride_x);
  tvm_pulp_rows wide = tvm_pulp_depthwise_wide_sums(args);
  p->sum = wide ? wide : tvm_pulp_depthwise_sums;
  if (wide) p->margin = args->pad_left; /* windows are read as whole words, not pixels stored so */
}

static void prepare(struct tvm_pulp_planes *p, const struct tvm_pulp_depthwise_conv2d_args *args, uint32_t core) {
  uint32_t plane_bytes = 4u * args->plane_rows * args->plane_stride;
  p->args = args;
  p->planes = args->scratch + core * args->scratch_stride;
  p->margin = (args->pad_left + 3u) & ~3u; /* pixels are stored as whole words */
  p->weight_bytes = 4;
  p->fused = fused_of(args);
  /* What sums need is read before it is known that there are none. */
  p->sums = 0;
  p->sum_width = p->sum_rows = p->is_dense = 0;
  if (!p->fused) prepare_sums(p, plane_bytes);
  p->first = p->margin - args->pad_left;
  p->row_step = 4u * args->dilation_y * args->plane_stride;
  p->next = 4u * args->stride_y * args->plane_stride;
  uint32_t row_bytes = (args->out_width - 1u) * args->stride_x + args->kernel_width;
  uint32_t read = args->pad_left < row_bytes ? row_bytes - args->pad_left : 0u;
  p->pixels = read < args->width ? read : args->width;
  p->pad_pattern = (uint32_t)(uint8_t)args->pad_value * 0x01010101u;
  p->is_padding = ~0u;
  fill(p->planes, plane_bytes, p->pad_pattern);
}

TVM_PULP_KERNEL(depthwise_conv2d) {
  if (args->channels < 4u || args->dilation_x != 1u) {
    tvm_pulp_plain_depthwise_conv2d(args, core, cores);
    return;
  }
  uint32_t groups = (args->channels + 3u) >> 2;
  struct tvm_pulp_range range = tvm_pulp_share(groups * args->out_height, core, cores);
  if (range.begin == range.end) return;
  struct tvm_pulp_planes p;
  prepare(&p, args, core);
  uint32_t window_rows = (args->kernel_height - 1u) * args->dilation_y + 1u;
  uint32_t most = (args->plane_rows - window_rows) / args->stride_y + 1u;
  uint32_t group = range.begin / args->out_height, oy = range.begin - group * args->out_height;
  for (uint32_t left = range.end - range.begin; left > 0u;) {
    uint32_t channel = 4u * group + 4u > args->channels ? args->channels - 4u : 4u * group;
    uint32_t count = args->out_height - oy;
    if (count > left) count = left;
    if (count > most) count = most;
    compute_rows(&p, oy, count, channel);
    left -= count;
    oy += count;
    if (oy == args->out_height) {
      oy = 0;
      ++group;
    }
  }
}
