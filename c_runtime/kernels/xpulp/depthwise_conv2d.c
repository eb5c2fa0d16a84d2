/* SPDX-License-Identifier: Apache-2.0
 *
 * Four channels at a time: the image rows that the kernel covers are turned into one plane per channel, four pixels by
 * four channels a step, in a ring of kernel_height rows. In a plane the taps of a kernel row are neighbours, so one dot
 * product serves up to four of them. Work is shared in output rows of channel groups. */
#include "requantize_block.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/plain/depthwise_conv2d.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

struct planes {
  const struct tvm_pulp_depthwise_conv2d_args *args;
  uint8_t *ring;        /* [kernel_height][4 channels][plane_stride], shifted so that pixel 0 is word aligned */
  uint8_t **row;        /* kernel_height pointers into it, in the order of the kernel rows */
  int32_t *sums;        /* one row of accumulators */
  uint32_t before;      /* padding in front of a row */
  uint32_t pixels;      /* of an image row that any window reads */
  uint32_t row_bytes;   /* of a padded row */
  uint32_t words;       /* of a kernel row */
};

static void fill(uint8_t *target, uint32_t bytes, uint8_t value) {
  for (uint32_t i = 0; i < bytes; ++i) target[i] = value;
}

/* Four pixels at a time into the four planes. */
static void turn_pixels(const struct planes *p, uint8_t *target, const int8_t *x) {
  uint32_t stride = p->args->plane_stride, step = p->args->x_pixel_stride, n = p->pixels;
  for (; n >= 4u; n -= 4u, target += 4) {
    int32_t w[4];
    for (uint32_t j = 0; j < 4u; ++j, x += step) w[j] = tvm_pulp_xp_word(x);
    tvm_pulp_xp_transpose4(w);
    for (uint32_t j = 0; j < 4u; ++j) tvm_pulp_xp_put_word(target + j * stride, w[j]);
  }
  for (; n > 0u; --n, ++target, x += step) {
    for (uint32_t j = 0; j < 4u; ++j) target[j * stride] = (uint8_t)x[j];
  }
}

/* Image row iy of channels [channel, channel + 4). */
static void lay_row(const struct planes *p, uint8_t *target, uint32_t iy, uint32_t channel) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  uint8_t pad = (uint8_t)args->pad_value;
  uint32_t inside = iy < args->height ? p->pixels : 0u, before = inside ? p->before : 0u;
  uint32_t after = p->row_bytes - before - inside;
  for (uint32_t j = 0; j < 4u && before + after > 0u; ++j) {
    uint8_t *plane = target + j * args->plane_stride;
    fill(plane, before, pad);
    fill(plane + before + inside, after, pad);
  }
  if (inside) turn_pixels(p, target + before, args->x + iy * args->width * args->x_pixel_stride + channel);
}

/* Make the ring hold the rows of output row oy; `fresh` of them are new. */
static void turn_ring(const struct planes *p, uint32_t oy, uint32_t channel, uint32_t fresh) {
  uint32_t height = p->args->kernel_height;
  for (uint32_t turn = 0; turn < fresh && fresh < height; ++turn) {
    uint8_t *oldest = p->row[0];
    for (uint32_t ky = 1; ky < height; ++ky) p->row[ky - 1u] = p->row[ky];
    p->row[height - 1u] = oldest;
  }
  for (uint32_t ky = height - fresh; ky < height; ++ky) {
    lay_row(p, p->row[ky], oy * p->args->stride_y + ky - p->args->pad_top, channel);
  }
}

/* Accumulators of an output row of plane j, for any kernel. */
static void sum_row(const struct planes *p, const int32_t *weight, uint32_t j, int32_t bias) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  for (uint32_t ox = 0, at = j * args->plane_stride; ox < args->out_width; ++ox, at += args->stride_x) {
    const int32_t *w = weight;
    int32_t sum = bias;
    for (uint32_t ky = 0; ky < args->kernel_height; ++ky) {
      for (uint32_t i = 0; i < p->words; ++i) {
        int32_t x = tvm_pulp_xp_word(p->row[ky] + at + 4u * i);
        sum = args->x_type == TVM_PULP_UINT8 ? tvm_pulp_xp_sdotusp4(sum, x, *w++) : tvm_pulp_xp_sdotsp4(sum, x, *w++);
      }
    }
    p->sums[ox] = sum;
  }
}

/* The same for three kernel rows of one word, with the end of each sum as text. */
#define THREE_ROWS(DOT, FINISH, LAST)                                                                      \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[x0]", "%[s]", "%[p0]") XP_LWR("%[x1]", "%[s]", "%[p1]") \
                       XP_LWR("%[x2]", "%[s]", "%[p2]") "addi %[d],%[b],0\n" DOT("%[d]", "%[x0]", "%[w0]")  \
                       DOT("%[d]", "%[x1]", "%[w1]") DOT("%[d]", "%[x2]", "%[w2]") FINISH                   \
                       XP_LOOP_END LAST XP_END                                                             \
                   : [p0] "+r"(p0), [p1] "+r"(p1), [p2] "+r"(p2), [y] "+r"(y), [x0] "=&r"(x0), [x1] "=&r"(x1), \
                     [x2] "=&r"(x2), [d] "=&r"(sum)                                                        \
                   : [n] "r"(n), [s] "r"(args->stride_x), [b] "r"(bias), [w0] "r"(weight[0]), [w1] "r"(weight[1]), \
                     [w2] "r"(weight[2]), [m] "r"(mul), [a] "r"(add), [sh] "r"(requant->shift),            \
                     [h] "r"(requant->high), [ys] "r"(step)                                                \
                   : "memory")
#define SCALE "mul %[d],%[d],%[m]\n" XP_ADDNR("%[d]", "%[a]", "%[sh]")

static uint32_t fits_three_rows(const struct planes *p) { return p->args->kernel_height == 3u && p->words == 1u; }

static void three_rows(const struct planes *p, const int32_t *weight, uint32_t j, int32_t bias, uint32_t channel,
                       uint8_t *y, uint32_t step, uint32_t fused) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  const struct tvm_pulp_requant *requant = &args->requant;
  uint32_t offset = j * args->plane_stride, n = args->out_width, at = requant->per_channel ? channel : 0u;
  const uint8_t *p0 = p->row[0] + offset, *p1 = p->row[1] + offset, *p2 = p->row[2] + offset;
  int32_t mul = 0, add = 0, x0, x1, x2, sum;
  if (fused) {
    mul = requant->mul[at];
    add = requant->add[at];
  }
  if (args->x_type == TVM_PULP_UINT8) {
    if (!fused) {
      THREE_ROWS(XP_SDOTUSP, "", XP_SWR("%[d]", "%[ys]", "%[y]"));
    } else if (requant->low == 0) {
      THREE_ROWS(XP_SDOTUSP, SCALE XP_CLIPUR("%[d]", "%[d]", "%[h]"), XP_SBR("%[d]", "%[ys]", "%[y]"));
    } else {
      THREE_ROWS(XP_SDOTUSP, SCALE XP_CLIPR("%[d]", "%[d]", "%[h]"), XP_SBR("%[d]", "%[ys]", "%[y]"));
    }
  } else if (!fused) {
    THREE_ROWS(XP_SDOTSP, "", XP_SWR("%[d]", "%[ys]", "%[y]"));
  } else if (requant->low == 0) {
    THREE_ROWS(XP_SDOTSP, SCALE XP_CLIPUR("%[d]", "%[d]", "%[h]"), XP_SBR("%[d]", "%[ys]", "%[y]"));
  } else {
    THREE_ROWS(XP_SDOTSP, SCALE XP_CLIPR("%[d]", "%[d]", "%[h]"), XP_SBR("%[d]", "%[ys]", "%[y]"));
  }
}

/* One output row of four channels. */
static void compute_row(const struct planes *p, uint32_t oy, uint32_t channel) {
  const struct tvm_pulp_depthwise_conv2d_args *args = p->args;
  const struct tvm_pulp_requant *requant = &args->requant;
  uint32_t fused = requant->kind == TVM_PULP_REQUANT_PULP_NARROW && !requant->wide_result &&
                   (requant->low == 0 || requant->low == ~requant->high);
  uint32_t result_bytes = tvm_pulp_result_bytes(requant), weight_words = args->kernel_height * p->words;
  const int32_t *weight = (const int32_t *)(const void *)args->weight + channel * weight_words;
  uint8_t *y = (uint8_t *)args->y + oy * args->out_width * args->y_pixel_stride + channel * result_bytes;
  for (uint32_t j = 0; j < 4u; ++j, weight += weight_words, y += result_bytes) {
    int32_t bias = args->bias[channel + j];
    if (fits_three_rows(p)) {
      if (fused) {
        three_rows(p, weight, j, bias, channel + j, y, args->y_pixel_stride, 1);
        continue;
      }
      three_rows(p, weight, j, bias, channel + j, (uint8_t *)p->sums, 4, 0);
    } else {
      sum_row(p, weight, j, bias);
    }
    tvm_pulp_requantize_channel(requant, p->sums, args->out_width, y, args->y_pixel_stride, channel + j);
  }
}

TVM_PULP_KERNEL(depthwise_conv2d) {
  if (args->channels < 4u || args->dilation_x != 1u || args->dilation_y != 1u) {
    tvm_pulp_plain_depthwise_conv2d(args, core, cores);
    return;
  }
  uint32_t groups = (args->channels + 3u) >> 2, height = args->kernel_height;
  struct tvm_pulp_range range = tvm_pulp_share(groups * args->out_height, core, cores);
  if (range.begin == range.end) return;
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  struct planes p;
  p.args = args;
  p.words = (args->kernel_width + 3u) >> 2;
  p.sums = (int32_t *)(void *)scratch;
  p.row = (uint8_t **)(void *)(scratch + 4u * args->out_width);
  p.ring = scratch + 4u * (args->out_width + height) + ((0u - args->pad_left) & 3u);
  p.row_bytes = (args->out_width - 1u) * args->stride_x + args->kernel_width;
  p.before = args->pad_left < p.row_bytes ? args->pad_left : p.row_bytes;
  p.pixels = p.row_bytes - p.before < args->width ? p.row_bytes - p.before : args->width;
  for (uint32_t ky = 0; ky < height; ++ky) p.row[ky] = p.ring + 4u * ky * args->plane_stride;
  uint32_t group = range.begin / args->out_height, oy = range.begin - group * args->out_height, fresh = height;
  for (uint32_t at = range.begin; at < range.end; ++at) {
    uint32_t channel = 4u * group + 4u > args->channels ? args->channels - 4u : 4u * group;
    turn_ring(&p, oy, channel, fresh);
    compute_row(&p, oy, channel);
    fresh = args->stride_y < height ? args->stride_y : height;
    if (++oy == args->out_height) {
      oy = 0;
      ++group;
      fresh = height;
    }
  }
}
