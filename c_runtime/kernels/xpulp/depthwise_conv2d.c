/* SPDX-License-Identifier: Apache-2.0
 *
 * Four channels at a time: the image rows that some output rows need are turned into one plane per channel, four pixels
 * by four channels a step. In a plane the taps of a kernel row are neighbours, so one dot product serves up to four of
 * them. Work is shared in output rows of channel groups. */
#include "depthwise_rows.h"
#include "requantize_block.h"
#include "scaled.h"
#include "tvm_pulp/elements.h"
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

/* Pixels into the four planes. */
static void turn_pixels(const struct tvm_pulp_planes *p, uint8_t *target, const int8_t *x) {
  uint32_t stride = p->args->plane_stride, step = p->args->x_pixel_stride, n = p->pixels >> 2;
  uint8_t *t0 = target, *t1 = t0 + stride, *t2 = t1 + stride, *t3 = t2 + stride;
  int32_t w0, w1, w2, w3, u0, u1;
  if (n) {
    __asm__ volatile(
        XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[w0]", "%[s]", "%[x]") XP_LWR("%[w1]", "%[s]", "%[x]")
            XP_LWR("%[w2]", "%[s]", "%[x]") XP_LWR("%[w3]", "%[s]", "%[x]") "addi %[u0],%[w0],0\naddi %[u1],%[w2],0\n"
            XP_SHUFFLE2_B("%[u0]", "%[w1]", "%[lo]") XP_SHUFFLE2_B("%[w0]", "%[w1]", "%[hi]")
            XP_SHUFFLE2_B("%[u1]", "%[w3]", "%[lo]") XP_SHUFFLE2_B("%[w2]", "%[w3]", "%[hi]")
            XP_PACK_H("%[w1]", "%[u1]", "%[u0]") XP_SHUFFLE2_H("%[u0]", "%[u1]", "%[up]")
            XP_PACK_H("%[w3]", "%[w2]", "%[w0]") XP_SHUFFLE2_H("%[w0]", "%[w2]", "%[up]")
            XP_SW("%[w1]", 4, "%[t0]") XP_SW("%[u0]", 4, "%[t1]") XP_SW("%[w3]", 4, "%[t2]")
            XP_LOOP_END XP_SW("%[w0]", 4, "%[t3]") XP_END
        : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [x] "+r"(x), [w0] "=&r"(w0), [w1] "=&r"(w1),
          [w2] "=&r"(w2), [w3] "=&r"(w3), [u0] "=&r"(u0), [u1] "=&r"(u1)
        : [n] "r"(n), [s] "r"(step), [lo] "r"(0x05010400), [hi] "r"(0x07030602), [up] "r"(0x00030001)
        : "memory");
  }
  for (n = p->pixels & 3u; n > 0u; --n, x += step) {
    *t0++ = (uint8_t)x[0];
    *t1++ = (uint8_t)x[1];
    *t2++ = (uint8_t)x[2];
    *t3++ = (uint8_t)x[3];
  }
}

/* Image row iy of channels [channel, channel + 4). All planes hold padding at first, and pixels never overwrite that of
 * a row, so only rows outside the image need more. */
static void lay_row(const struct tvm_pulp_planes *p, uint8_t *target, uint32_t iy, uint32_t channel) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  if (iy < args->height) {
    turn_pixels(p, target + p->margin, args->x + iy * args->width * args->x_pixel_stride + channel);
  } else {
    fill(target, 4u * args->plane_stride, p->pad_pattern);
  }
}

/* `count` output rows of four channels from row oy on. */
static void compute_rows(const struct tvm_pulp_planes *p, uint32_t oy, uint32_t count, uint32_t channel) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  const struct tvm_pulp_requant *requant = &args->requant;
  uint32_t image_rows = (count - 1u) * args->stride_y + args->kernel_height;
  for (uint32_t row = 0; row < image_rows; ++row) {
    lay_row(p, p->planes + 4u * row * args->plane_stride, oy * args->stride_y + row - args->pad_top, channel);
  }
  uint32_t result_bytes = tvm_pulp_result_bytes(requant), weight_words = args->kernel_height * p->words;
  uint32_t line = args->out_width * args->y_pixel_stride;
  uint8_t *y = (uint8_t *)args->y + oy * line + channel * result_bytes;
  for (uint32_t j = 0; j < 4u; ++j, y += result_bytes) {
    if (p->fused == TVM_PULP_FUSED) {
      tvm_pulp_depthwise_three_rows(p, j, channel + j, count, y);
      continue;
    }
    if (p->fused == TVM_PULP_FUSED_SCALED) {
      tvm_pulp_depthwise_three_scaled_rows(p, j, channel + j, count, y);
      continue;
    }
    const int32_t *weight = (const int32_t *)(const void *)args->weight + (channel + j) * weight_words;
    for (uint32_t row = 0; row < count; ++row) {
      tvm_pulp_depthwise_sums(p, weight, j, row, args->bias[channel + j]);
      tvm_pulp_requantize_channel(requant, p->sums, args->out_width, y + row * line, args->y_pixel_stride, channel + j);
    }
  }
}

static void prepare(struct tvm_pulp_planes *p, const struct tvm_pulp_depthwise_conv2d_args *args, uint32_t core) {
  const struct tvm_pulp_requant *r = &args->requant;
  p->args = args;
  p->words = (args->kernel_width + 3u) >> 2;
  p->sums = (int32_t *)(void *)(args->scratch + core * args->scratch_stride);
  p->planes = (uint8_t *)(p->sums + args->out_width);
  p->margin = (args->pad_left + 3u) & ~3u;
  p->first = p->margin - args->pad_left;
  uint32_t row_bytes = (args->out_width - 1u) * args->stride_x + args->kernel_width;
  uint32_t read = args->pad_left < row_bytes ? row_bytes - args->pad_left : 0u;
  p->pixels = read < args->width ? read : args->width;
  p->pad_pattern = (uint32_t)(uint8_t)args->pad_value * 0x01010101u;
  fill(p->planes, 4u * args->plane_rows * args->plane_stride, p->pad_pattern);
  p->fused = TVM_PULP_NOT_FUSED;
  if (args->kernel_height == 3u && p->words == 1u) {
    if (r->kind == TVM_PULP_REQUANT_PULP_NARROW && !r->wide_result && (r->low == 0 || r->low == ~r->high)) {
      p->fused = TVM_PULP_FUSED;
    } else if (tvm_pulp_is_scaled(r)) {
      p->fused = TVM_PULP_FUSED_SCALED;
    }
  }
}

TVM_PULP_KERNEL(depthwise_conv2d) {
  if (args->channels < 4u || args->dilation_x != 1u || args->dilation_y != 1u) {
    tvm_pulp_plain_depthwise_conv2d(args, core, cores);
    return;
  }
  uint32_t groups = (args->channels + 3u) >> 2;
  struct tvm_pulp_range range = tvm_pulp_share(groups * args->out_height, core, cores);
  if (range.begin == range.end) return;
  struct tvm_pulp_planes p;
  prepare(&p, args, core);
  uint32_t most = (args->plane_rows - args->kernel_height) / args->stride_y + 1u;
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
