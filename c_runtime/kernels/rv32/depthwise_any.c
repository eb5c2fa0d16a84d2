/* SPDX-License-Identifier: Apache-2.0
 *
 * Channel by channel: the image rows that some output rows need are copied beside each other with their padding, so
 * that no tap has to ask where it is. Then four neighbouring outputs are summed at a time. */
#include "depthwise_any.h"

#include "tvm_pulp/scale.h"
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/plain/window.h"
#include "tvm_pulp/work_share.h"

/* Row iy of a channel, from its padding on; one outside the image is all padding. `flip` makes unsigned bytes signed. */
static void lay_row(const struct tvm_pulp_depthwise_conv2d_args *args, int8_t *to, uint32_t bytes, const uint8_t *x,
                    uint32_t iy, uint8_t flip) {
  const int8_t padding = (int8_t)((uint8_t)args->pad_value ^ flip), *const end = to + bytes;
  const uint32_t step = args->x_pixel_stride;
  uint32_t before = args->pad_left, inside = args->width;
  if (iy >= args->height || before > bytes) before = bytes;
  if (inside > bytes - before) inside = bytes - before;
  for (int8_t *const last = to + before; to != last; to++) *to = padding;
  x += (uintptr_t)iy * args->x_row_stride;
  const uint8_t *x1 = x + step, *x2 = x1 + step, *x3 = x2 + step;
  for (int8_t *const last = to + (inside & ~3u); to != last; to += 4) {
    const uint8_t a = *x, b = *x1, c = *x2, d = *x3;
    x += 4u * step, x1 += 4u * step, x2 += 4u * step, x3 += 4u * step;
    to[0] = (int8_t)(a ^ flip), to[1] = (int8_t)(b ^ flip), to[2] = (int8_t)(c ^ flip), to[3] = (int8_t)(d ^ flip);
  }
  for (int8_t *const last = to + (inside & 3u); to != last; to++, x += step) *to = (int8_t)(*x ^ flip);
  for (; to != end; to++) *to = padding;
}

/* The kernel of a channel, over rows `step` bytes apart, for output rows of `count` sums, `below` bytes apart. */
struct window {
  const int8_t *weight;
  uint32_t row_bytes, height, width, step, stride, apart, count, below;
  int32_t bias;
};

/* Fours of sums of output rows; the last of a row may overlap those before. */
#define FOURS                                                                                   \
  const uint32_t count = window->count, columns = count < 4u ? 4u : count;                      \
  for (; rows != 0u; rows--, sums += columns, x += window->below)                               \
    for (uint32_t first = 0; first < count; first = first + 8u > count && first + 4u < count ? count - 4u : first + 4u)

/* Of a window of any width: a weight meets four outputs. */
static void any_rows(const struct window *window, int32_t *sums, const int8_t *x, uint32_t rows) {
  const uint32_t stride = window->stride, apart = window->apart;
  FOURS {
    int32_t s0 = window->bias, s1 = s0, s2 = s0, s3 = s0;
    const int8_t *row = window->weight, *at = x + first * stride;
    for (uint32_t ky = window->height; ky != 0u; ky--, row += window->row_bytes, at += window->step) {
      const int8_t *p0 = at, *p1 = p0 + stride, *p2 = p1 + stride, *p3 = p2 + stride;
      for (const int8_t *w = row, *const end = row + window->width; w != end; w++) {
        const int32_t factor = *w;
        s0 += *p0 * factor, s1 += *p1 * factor, s2 += *p2 * factor, s3 += *p3 * factor;
        p0 += apart, p1 += apart, p2 += apart, p3 += apart;
      }
    }
    int32_t *to = sums + first;
    to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
  }
}

/* Of a width that the compiler knows: what is loaded once goes into all sums that it belongs to. */
#define MEETS(output, column)                                                                   \
  if (((column) - output * stride) % apart == 0u && ((column) - output * stride) / apart < width) \
  s##output += v * w[((column) - output * stride) / apart]
/* Sums in the order of the columns: as trees they would need more registers than there are. */
#define FIRST_COLUMN(column)                                       \
  {                                                                \
    const int32_t v = at[column];                                  \
    MEETS(0, column);                                              \
    MEETS(1, column);                                              \
    MEETS(2, column);                                              \
    MEETS(3, column);                                              \
    __asm__ volatile("" : "+r"(s0), "+r"(s1), "+r"(s2), "+r"(s3)); \
  }
#define COLUMN(column) \
  if ((column) <= 3u * stride + (width - 1u) * apart) FIRST_COLUMN(column)
enum { WIDEST = 9 };

TVM_PULP_INLINE void known_rows(const struct window *window, int32_t *sums, const int8_t *x, uint32_t rows,
                                uint32_t width, uint32_t stride, uint32_t apart) {
  const uint32_t step = window->step, row_bytes = window->row_bytes;
  const int8_t *const end = window->weight + window->height * row_bytes;
  FOURS {
    int32_t s0 = window->bias, s1 = s0, s2 = s0, s3 = s0, w[WIDEST];
    const int8_t *at = x + first * stride;
    for (const int8_t *row = window->weight; row != end; row += row_bytes, at += step) {
      for (uint32_t n = 0; n < width; n++) w[n] = row[n];
      FIRST_COLUMN(0u)
      COLUMN(1u)
      COLUMN(2u)
      COLUMN(3u)
      COLUMN(4u)
      COLUMN(5u)
      COLUMN(6u)
      COLUMN(7u)
      COLUMN(8u)
      COLUMN(9u)
      COLUMN(10u)
      COLUMN(11u)
      COLUMN(12u)
    }
    int32_t *to = sums + first;
    to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
  }
}

#define KNOWN(name, width, stride, apart)                                                         \
  static void name(const struct window *window, int32_t *sums, const int8_t *x, uint32_t rows) { \
    known_rows(window, sums, x, rows, width, stride, apart);                                    \
  }
KNOWN(three, 3, 1, 1)
KNOWN(five, 5, 1, 1)
KNOWN(seven, 7, 1, 1)
KNOWN(nine, 9, 1, 1)
KNOWN(three_strided, 3, 2, 1)
KNOWN(five_strided, 5, 2, 1)
KNOWN(seven_strided, 7, 2, 1)
KNOWN(three_apart, 3, 1, 2)

typedef void (*rows_function)(const struct window *, int32_t *, const int8_t *, uint32_t);

static rows_function rows_of(const struct window *window) {
  if (window->apart == 2u && window->stride == 1u && window->width == 3u) return three_apart;
  if (window->apart != 1u || window->stride > 2u) return any_rows;
  switch (window->width) {
  case 3: return window->stride == 1u ? three : three_strided;
  case 5: return window->stride == 1u ? five : five_strided;
  case 7: return window->stride == 1u ? seven : seven_strided;
  case 9: return window->stride == 1u ? nine : any_rows;
  default: return any_rows;
  }
}

/* Cores share the channels. */
void tvm_pulp_depthwise_any(const struct tvm_pulp_depthwise_conv2d_args *args, uint32_t core, uint32_t cores) {
  const uint32_t width = args->out_width, columns = width < 4u ? 4u : width, stride = args->plane_stride;
  const uint32_t bytes = (columns - 1u) * args->stride_x + (args->kernel_width - 1u) * args->dilation_x + 1u;
  const uint32_t result_bytes = tvm_pulp_result_bytes(&args->requant);
  const uint32_t reach = (args->kernel_height - 1u) * args->dilation_y + 1u;
  const uint8_t flip = args->x_type == TVM_PULP_INT8 ? 0u : 0x80u;
  struct window window = {.row_bytes = tvm_pulp_depthwise_row_bytes(args->kernel_width, args->stride_x),
                          .height = args->kernel_height,
                          .width = args->kernel_width,
                          .step = args->dilation_y * stride,
                          .stride = args->stride_x,
                          .apart = args->dilation_x,
                          .count = width,
                          .below = args->stride_y * stride};
  const rows_function sum_rows = rows_of(&window);
  int8_t *plane = (int8_t *)args->scratch + core * args->scratch_stride;
  int32_t *sums = (int32_t *)(void *)(plane + args->plane_rows * stride);
  const uint32_t most = (args->plane_rows - reach) / args->stride_y + 1u;
  /* Results of rows that lie behind each other are one run, as many rows as there is room for sums. */
  const int is_run = columns == width && args->y_row_stride == width * args->y_pixel_stride;
  const uint32_t room = (args->scratch_stride - args->plane_rows * stride) / (4u * columns), at_once = is_run ? room : 1u;
  const struct tvm_pulp_range share = tvm_pulp_share(args->channels, core, cores);
  for (uint32_t channel = share.begin; channel < share.end; channel++) {
    for (uint32_t oy = 0, count; oy < args->out_height; oy += count) {
      count = args->out_height - oy < most ? args->out_height - oy : most;
      const uint32_t rows = (count - 1u) * args->stride_y + reach;
      for (uint32_t i = 0; i < rows; i++) {
        const uint32_t iy = tvm_pulp_window_at(oy, args->stride_y, i, 1, args->pad_top);
        lay_row(args, plane + i * stride, bytes, (const uint8_t *)args->x + channel, iy, flip);
      }
      for (uint32_t out = channel * args->multiplier; out < (channel + 1u) * args->multiplier; out++) {
        window.weight = args->weight + out * window.height * window.row_bytes;
        window.bias = args->bias[out] + (flip ? tvm_pulp_bias_of_flipped(window.weight, window.row_bytes,
                                                                         window.height, window.width) : 0);
        for (uint32_t i = 0, done; i < count; i += done) {
          done = count - i < at_once ? count - i : at_once;
          sum_rows(&window, sums, plane + i * window.below, done);
          uint8_t *y = (uint8_t *)args->y + (oy + i) * args->y_row_stride + out * result_bytes;
          tvm_pulp_finish_channel(&args->requant, sums, 1, done * width, y, args->y_pixel_stride, out);
        }
      }
    }
  }
}
