/* SPDX-License-Identifier: Apache-2.0
 *
 * Channel by channel: the image rows that some output rows need are copied beside each other with their padding, so that
 * no tap has to ask where it is. Then a weight meets four neighbouring outputs at a time. */
#include "depthwise_any.h"

#include "tvm_pulp/scale.h"
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/plain/window.h"
#include "tvm_pulp/work_share.h"

/* Row iy of a channel, from its padding on; one outside the image is all padding. */
static void lay_row(const struct tvm_pulp_depthwise_conv2d_args *args, uint8_t *to, uint32_t bytes, const uint8_t *x,
                    uint32_t iy) {
  const uint8_t padding = (uint8_t)args->pad_value, *const end = to + bytes;
  const uint32_t step = args->x_pixel_stride;
  uint32_t before = args->pad_left, inside = args->width;
  if (iy >= args->height || before > bytes) before = bytes;
  if (inside > bytes - before) inside = bytes - before;
  for (uint8_t *const last = to + before; to != last; to++) *to = padding;
  x += (uintptr_t)iy * args->x_row_stride;
  for (uint8_t *const last = to + inside; to != last; to++, x += step) *to = *x;
  for (; to != end; to++) *to = padding;
}

/* One output row as sums, in fours, of which the last may overlap the one before. `step`: bytes from a row of the kernel
 * to the next. */
#define ROW(name, type)                                                                                              \
  TVM_PULP_INLINE void name##_at(const struct tvm_pulp_depthwise_conv2d_args *args, int32_t *sums, const uint8_t *x,  \
                                 uint32_t step, const int8_t *weight, uint32_t row_bytes, int32_t bias,              \
                                 uint32_t stride, uint32_t apart) {                                                  \
    const uint32_t count = args->out_width;                                                                          \
    for (uint32_t ox = 0; ox < count; ox += 4u) {                                                                    \
      const uint32_t first = ox + 4u > count && count > 4u ? count - 4u : ox;                                        \
      int32_t s0 = bias, s1 = bias, s2 = bias, s3 = bias;                                                            \
      const int8_t *w = weight;                                                                                      \
      const uint8_t *row = x + first * stride;                                                                       \
      for (uint32_t ky = args->kernel_height; ky != 0u; ky--, w += row_bytes, row += step) {                         \
        const type *p0 = (const type *)row, *p1 = p0 + stride, *p2 = p1 + stride, *p3 = p2 + stride;                 \
        for (const int8_t *v = w, *const end = w + args->kernel_width; v != end; v++) {                              \
          const int32_t factor = *v;                                                                                 \
          s0 += *p0 * factor, s1 += *p1 * factor, s2 += *p2 * factor, s3 += *p3 * factor;                            \
          p0 += apart, p1 += apart, p2 += apart, p3 += apart;                                                        \
        }                                                                                                            \
      }                                                                                                              \
      int32_t *to = sums + first;                                                                                    \
      to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;                                                                \
    }                                                                                                                \
  }                                                                                                                  \
  static void name(const struct tvm_pulp_depthwise_conv2d_args *args, int32_t *sums, const uint8_t *x, uint32_t step, \
                   const int8_t *weight, uint32_t row_bytes, int32_t bias) {                                         \
    if (args->stride_x == 1u && args->dilation_x == 1u) name##_at(args, sums, x, step, weight, row_bytes, bias, 1, 1); \
    else name##_at(args, sums, x, step, weight, row_bytes, bias, args->stride_x, args->dilation_x);                  \
  }
ROW(signed_row, int8_t)
ROW(unsigned_row, uint8_t)

/* Cores share the channels. */
void tvm_pulp_depthwise_any(const struct tvm_pulp_depthwise_conv2d_args *args, uint32_t core, uint32_t cores) {
  const uint32_t columns = args->out_width < 4u ? 4u : args->out_width, stride = args->plane_stride;
  const uint32_t bytes = (columns - 1u) * args->stride_x + (args->kernel_width - 1u) * args->dilation_x + 1u;
  const uint32_t result_bytes = tvm_pulp_result_bytes(&args->requant);
  const uint32_t row_bytes = tvm_pulp_depthwise_row_bytes(args->kernel_width, args->stride_x);
  const uint32_t reach = (args->kernel_height - 1u) * args->dilation_y + 1u;
  uint8_t *plane = args->scratch + core * args->scratch_stride;
  int32_t *sums = (int32_t *)(void *)(plane + args->plane_rows * stride);
  const uint32_t most = (args->plane_rows - reach) / args->stride_y + 1u;
  const struct tvm_pulp_range share = tvm_pulp_share(args->channels, core, cores);
  for (uint32_t channel = share.begin; channel < share.end; channel++) {
    for (uint32_t oy = 0, count; oy < args->out_height; oy += count) {
      count = args->out_height - oy < most ? args->out_height - oy : most;
      const uint32_t rows = (count - 1u) * args->stride_y + reach;
      for (uint32_t i = 0; i < rows; i++) {
        const uint32_t iy = tvm_pulp_window_at(oy, args->stride_y, i, 1, args->pad_top);
        lay_row(args, plane + i * stride, bytes, (const uint8_t *)args->x + channel, iy);
      }
      for (uint32_t out = channel * args->multiplier; out < (channel + 1u) * args->multiplier; out++) {
        const int8_t *weight = args->weight + out * args->kernel_height * row_bytes;
        for (uint32_t i = 0; i < count; i++) {
          (args->x_type == TVM_PULP_INT8 ? signed_row : unsigned_row)(args, sums, plane + i * args->stride_y * stride,
                                                                      args->dilation_y * stride, weight, row_bytes,
                                                                      args->bias[out]);
          uint8_t *y = (uint8_t *)args->y + (oy + i) * args->y_row_stride + out * result_bytes;
          tvm_pulp_finish_channel(&args->requant, sums, 1, args->out_width, y, args->y_pixel_stride, out);
        }
      }
    }
  }
}
