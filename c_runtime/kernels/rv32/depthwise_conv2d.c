/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution. Kernels of 3x3 walk along a row of one channel column by column: what is loaded once goes into
 * the sums of all outputs that it belongs to, with the nine weights in registers. Sums of some rows gather in scratch
 * before they are requantized. */
#include "depthwise_any.h"
#include "tvm_pulp/scale.h"
#include "tvm_pulp/plain/window.h"
#include "tvm_pulp/work_share.h"

/* Three rows of a channel. One outside the image is a single byte of padding, with a step of 0. */
struct rows {
  const uint8_t *at[3];
  uint32_t step[3];
  uint32_t width, pad_left;
  int32_t pad_value;
};

#define SUM(column) (v0 * w[0][column] + v1 * w[1][column] + v2 * w[2][column])
#define LOAD_INSIDE(type)                                                                       \
  do {                                                                                          \
    v0 = *(const type *)p0, v1 = *(const type *)p1, v2 = *(const type *)p2;                     \
    p0 += step0, p1 += step1, p2 += step2;                                                      \
  } while (0)
#define LOAD(type)                                                                              \
  do {                                                                                          \
    if (ix < rows->width) LOAD_INSIDE(type);                                                    \
    else v0 = v1 = v2 = rows->pad_value;                                                        \
    ix++;                                                                                       \
  } while (0)
#define BEGIN_ROW                                                                               \
  const uint8_t *p0 = rows->at[0], *p1 = rows->at[1], *p2 = rows->at[2];                        \
  const uint32_t step0 = rows->step[0], step1 = rows->step[1], step2 = rows->step[2];           \
  const int32_t w[3][3] = {{weight[0], weight[1], weight[2]},                                   \
                           {weight[4], weight[5], weight[6]},                                   \
                           {weight[8], weight[9], weight[10]}};                                 \
  uint32_t ix = 0u - rows->pad_left;                                                            \
  int32_t v0, v1, v2

/* Stride 1: a column belongs to three outputs. */
#define NEXT_1 *sums = first + SUM(2), first = second + SUM(1), second = bias + SUM(0)
#define ROW_1(name, type)                                                                       \
  static void name(int32_t *sums, uint32_t count, const struct rows *rows, const int8_t *weight, int32_t bias) { \
    BEGIN_ROW;                                                                                  \
    LOAD(type);                                                                                 \
    int32_t first = bias + SUM(0);                                                              \
    LOAD(type);                                                                                 \
    first += SUM(1);                                                                            \
    int32_t second = bias + SUM(0);                                                             \
    uint32_t inside = ix < rows->width ? rows->width - ix : 0u;                                 \
    inside = inside < count ? inside : count;                                                   \
    count -= inside;                                                                            \
    ix += inside;                                                                               \
    for (int32_t *const end = sums + inside; sums != end; sums++) {                             \
      LOAD_INSIDE(type);                                                                        \
      NEXT_1;                                                                                   \
    }                                                                                           \
    for (; count != 0u; count--, sums++) {                                                      \
      LOAD(type);                                                                               \
      NEXT_1;                                                                                   \
    }                                                                                           \
  }

/* Stride 2: one column to two outputs, the next to one. */
#define NEXT_2(LOADS)                                                                           \
  LOADS;                                                                                        \
  sum += SUM(1);                                                                                \
  LOADS;                                                                                        \
  *sums = sum + SUM(2);                                                                         \
  sum = bias + SUM(0)
#define ROW_2(name, type)                                                                       \
  static void name(int32_t *sums, uint32_t count, const struct rows *rows, const int8_t *weight, int32_t bias) { \
    BEGIN_ROW;                                                                                  \
    LOAD(type);                                                                                 \
    int32_t sum = bias + SUM(0);                                                                \
    for (; count != 0u && ix + 1u < rows->width; count--, sums++, ix += 2u) {                   \
      NEXT_2(LOAD_INSIDE(type));                                                                \
    }                                                                                           \
    for (; count != 0u; count--, sums++) {                                                      \
      NEXT_2(LOAD(type));                                                                       \
    }                                                                                           \
  }

ROW_1(signed_row, int8_t)
ROW_1(unsigned_row, uint8_t)
ROW_2(signed_strided_row, int8_t)
ROW_2(unsigned_strided_row, uint8_t)

typedef void (*row_function)(int32_t *, uint32_t, const struct rows *, const int8_t *, int32_t);

static void run_channel(const struct tvm_pulp_depthwise_conv2d_args *args, int32_t *sums, uint32_t at_once,
                        uint32_t channel, row_function run_row) {
  const uint32_t width = args->out_width, bytes = tvm_pulp_result_bytes(&args->requant);
  const int8_t *weight = args->weight + 12u * channel;
  const uint8_t *x = (const uint8_t *)args->x + channel, padding = (uint8_t)args->pad_value;
  uint8_t *y = (uint8_t *)args->y + channel * bytes;
  struct rows rows = {.width = args->width, .pad_left = args->pad_left, .pad_value = args->pad_value};
  for (uint32_t oy = 0; oy < args->out_height; oy += at_once) {
    const uint32_t left = args->out_height - oy, count = left < at_once ? left : at_once;
    for (uint32_t i = 0; i < count; i++) {
      for (uint32_t ky = 0; ky < 3u; ky++) {
        const uint32_t iy = tvm_pulp_window_at(oy + i, args->stride_y, ky, 1, args->pad_top);
        const int inside = iy < args->height;
        rows.at[ky] = inside ? x + (uintptr_t)iy * args->x_row_stride : &padding;
        rows.step[ky] = inside ? args->x_pixel_stride : 0u;
      }
      run_row(sums + i * width, width, &rows, weight, args->bias[channel]);
    }
    tvm_pulp_finish_channel(&args->requant, sums, 1, count * width, y, args->y_pixel_stride, channel);
    y += (uintptr_t)count * width * args->y_pixel_stride;
  }
}

/* Cores share the channels. */
TVM_PULP_KERNEL(depthwise_conv2d) {
  int32_t *sums = (int32_t *)(void *)(args->scratch + core * args->scratch_stride);
  const int is_signed = args->x_type == TVM_PULP_INT8;
  if (args->kernel_height != 3u || args->kernel_width != 3u || args->dilation_x != 1u || args->dilation_y != 1u ||
      args->stride_x > 2u || args->pad_left > 1u || args->multiplier != 1u ||
      args->y_row_stride != args->out_width * args->y_pixel_stride) {
    tvm_pulp_depthwise_any(args, core, cores);
    return;
  }
  const uint32_t at_once = args->scratch_stride / (4u * args->out_width);
  const row_function run_row = args->stride_x == 1u ? (is_signed ? signed_row : unsigned_row)
                                                    : (is_signed ? signed_strided_row : unsigned_strided_row);
  const struct tvm_pulp_range share = tvm_pulp_share(args->channels, core, cores);
  for (uint32_t channel = share.begin; channel < share.end; channel++)
    run_channel(args, sums, at_once, channel, run_row);
}
