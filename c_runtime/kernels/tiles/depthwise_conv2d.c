/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution. Work is shared in pieces of output rows of one channel, whose pixels are read where they are. With
 * windows of three by three that move on by one pixel every column is read once and added to the three sums that it
 * belongs to, while the next one is on its way. Rows outside the picture are one byte that is read again and again. */
#include "product.h"
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/plain/window.h"
#include "tvm_pulp/scale.h"
#include "tvm_pulp/tiles.h"

enum { THREE = 3, PIECE = 16, FEW = 4 };

/* One channel of a picture, and the piece of an output row that is made of it. */
struct piece {
  const uint8_t *x;
  const int8_t *weight;
  uint32_t oy, ox, count, row_bytes;
  int32_t bias;
  uint8_t padding; /* a pixel of it */
};

TVM_PULP_INLINE int32_t value_of(const uint8_t *x, int is_signed) { return is_signed ? *(const int8_t *)x : *x; }

/* Three rows of a window from a column on, and bytes from pixel to pixel: none where a row is outside the picture. */
struct rows {
  const uint8_t *x[THREE];
  uint32_t step[THREE];
};

TVM_PULP_INLINE struct rows rows_of(const struct tvm_pulp_depthwise_conv2d_args *args, const struct piece *piece,
                                    uint32_t column) {
  struct rows rows;
  for (uint32_t ky = 0; ky < THREE; ky++) {
    const uint32_t iy = tvm_pulp_window_at(piece->oy, args->stride_y, ky, args->dilation_y, args->pad_top);
    const int is_inside = iy < args->height;
    rows.x[ky] = is_inside ? piece->x + iy * args->x_row_stride + column * args->x_pixel_stride : &piece->padding;
    rows.step[ky] = is_inside ? args->x_pixel_stride : 0u;
  }
  return rows;
}

/* A column: `sum` is complete with it, those of the next two pixels are not. */
#define ADD_COLUMN(a, b, c)                                                                              \
  sum = tvm_pulp_xp_mac(sum, a, w2), next = tvm_pulp_xp_mac(next, a, w1), last = tvm_pulp_xp_mac(last, a, w0); \
  sum = tvm_pulp_xp_mac(sum, b, w5), next = tvm_pulp_xp_mac(next, b, w4), last = tvm_pulp_xp_mac(last, b, w3); \
  sum = tvm_pulp_xp_mac(sum, c, w8), next = tvm_pulp_xp_mac(next, c, w7), last = tvm_pulp_xp_mac(last, c, w6);
#define MOVE_ON() *sums++ = sum, sum = next, next = last, last = bias

/* sums[2 + count], of which the first two are of no pixel. */
TVM_PULP_INLINE void slide(const struct tvm_pulp_depthwise_conv2d_args *args, const struct piece *piece, int32_t *sums,
                           int is_signed) {
  const int8_t *const w = piece->weight;
  const uint32_t next_row = piece->row_bytes;
  const int32_t w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[next_row], w4 = w[next_row + 1u], w5 = w[next_row + 2u];
  const int32_t w6 = w[2u * next_row], w7 = w[2u * next_row + 1u], w8 = w[2u * next_row + 2u];
  const int32_t pad = value_of(&piece->padding, is_signed), bias = piece->bias;
  const uint32_t column = piece->ox - args->pad_left;
  const uint32_t outside = column < args->width ? 0u : 0u - column, first = column < args->width ? column : 0u;
  const struct rows rows = rows_of(args, piece, first);
  uint32_t left = piece->count + 2u;
  int32_t sum = bias, next = bias, last = bias;
  for (uint32_t i = 0; i < outside; i++, left--) {
    ADD_COLUMN(pad, pad, pad)
    MOVE_ON();
  }
  uint32_t inside = args->width - first < left ? args->width - first : left;
  left -= inside;
  const uint8_t *x0 = rows.x[0], *x1 = rows.x[1], *x2 = rows.x[2];
  const uint32_t s0 = rows.step[0], s1 = rows.step[1], s2 = rows.step[2];
  int32_t a = value_of(x0, is_signed), b = value_of(x1, is_signed), c = value_of(x2, is_signed);
  for (; inside > 1u; inside--) {
    x0 += s0, x1 += s1, x2 += s2;
    const int32_t d = value_of(x0, is_signed), e = value_of(x1, is_signed), f = value_of(x2, is_signed);
    ADD_COLUMN(a, b, c)
    MOVE_ON();
    a = d, b = e, c = f;
  }
  ADD_COLUMN(a, b, c)
  MOVE_ON();
  for (; left != 0u; left--) {
    ADD_COLUMN(pad, pad, pad)
    MOVE_ON();
  }
}

/* Windows that move on by several pixels: the nine values of one are asked for together. */
TVM_PULP_INLINE void jump(const struct tvm_pulp_depthwise_conv2d_args *args, const struct piece *piece, int32_t *sums,
                          int is_signed) {
  const int8_t *const v = piece->weight, *const w = v + piece->row_bytes, *const u = w + piece->row_bytes;
  const int32_t v0 = v[0], v1 = v[1], v2 = v[2], w0 = w[0], w1 = w[1], w2 = w[2], u0 = u[0], u1 = u[1], u2 = u[2];
  const int32_t pad = value_of(&piece->padding, is_signed);
  uint32_t column = piece->ox * args->stride_x - args->pad_left;
  const struct rows rows = rows_of(args, piece, column);
  const uint8_t *x0 = rows.x[0], *x1 = rows.x[1], *x2 = rows.x[2];
  const uint32_t s0 = rows.step[0], s1 = rows.step[1], s2 = rows.step[2], stride = args->stride_x;
  for (uint32_t i = 0; i < piece->count; i++, column += stride, x0 += stride * s0, x1 += stride * s1, x2 += stride * s2) {
    int32_t a = pad, b = pad, c = pad, d = pad, e = pad, f = pad, g = pad, h = pad, k = pad;
    if (column < args->width) a = value_of(x0, is_signed), d = value_of(x1, is_signed), g = value_of(x2, is_signed);
    if (column + 1u < args->width)
      b = value_of(x0 + s0, is_signed), e = value_of(x1 + s1, is_signed), h = value_of(x2 + s2, is_signed);
    if (column + 2u < args->width)
      c = value_of(x0 + 2u * s0, is_signed), f = value_of(x1 + 2u * s1, is_signed), k = value_of(x2 + 2u * s2, is_signed);
    int32_t first = tvm_pulp_xp_mac(piece->bias, a, v0), second = d * w0, third = g * u0;
    first = tvm_pulp_xp_mac(first, b, v1), second = tvm_pulp_xp_mac(second, e, w1), third = tvm_pulp_xp_mac(third, h, u1);
    first = tvm_pulp_xp_mac(first, c, v2), second = tvm_pulp_xp_mac(second, f, w2), third = tvm_pulp_xp_mac(third, k, u2);
    sums[i] = first + second + third;
  }
}

typedef void add_piece(const struct tvm_pulp_depthwise_conv2d_args *args, const struct piece *piece, int32_t *sums);
/* One piece of code each, which caches hold. */
#define ADD_PIECE(NAME, WAY, IS_SIGNED)                                                                            \
  static __attribute__((noinline)) void NAME(const struct tvm_pulp_depthwise_conv2d_args *args,                   \
                                             const struct piece *piece, int32_t *sums) {                          \
    WAY(args, piece, sums, IS_SIGNED);                                                                            \
  }
ADD_PIECE(slide_signed, slide, 1)
ADD_PIECE(slide_unsigned, slide, 0)
ADD_PIECE(jump_signed, jump, 1)
ADD_PIECE(jump_unsigned, jump, 0)

/* Other windows, tap by tap. */
static __attribute__((noinline)) void add_windows(const struct tvm_pulp_depthwise_conv2d_args *args,
                                                  const struct piece *piece, int32_t *sums) {
  const int is_signed = args->x_type == TVM_PULP_INT8;
  const uint32_t step = args->dilation_x * args->x_pixel_stride;
  const int32_t pad = value_of(&piece->padding, is_signed);
  for (uint32_t i = 0; i < piece->count; i++) {
    const uint32_t first = (piece->ox + i) * args->stride_x - args->pad_left;
    int32_t sum = piece->bias;
    for (uint32_t ky = 0; ky < args->kernel_height; ky++) {
      const uint32_t iy = tvm_pulp_window_at(piece->oy, args->stride_y, ky, args->dilation_y, args->pad_top);
      const int8_t *w = piece->weight + ky * piece->row_bytes, *const end = w + args->kernel_width;
      const uint8_t *x = piece->x + iy * args->x_row_stride + first * args->x_pixel_stride;
      if (iy < args->height) {
        for (uint32_t ix = first; w != end; w++, x += step, ix += args->dilation_x)
          sum = tvm_pulp_xp_mac(sum, ix < args->width ? value_of(x, is_signed) : pad, *w);
      } else if (pad != 0) {
        for (; w != end; w++) sum = tvm_pulp_xp_mac(sum, pad, *w);
      }
    }
    sums[i] = sum;
  }
}

static void finish(const struct tvm_pulp_requant *r, const int32_t *sums, uint32_t count, uint8_t *y, uint32_t y_stride,
                   uint32_t channel) {
  if (r->kind != TVM_PULP_REQUANT_PULP_NARROW || r->wide_result != 0u) {
    tvm_pulp_finish_channel(r, sums, 1, count, y, y_stride, channel);
    return;
  }
  const uint32_t at = r->per_channel ? channel : 0u;
  const int32_t mul = r->mul[at], add = r->add[at], shift = r->shift, low = r->low, high = r->high;
  for (; count != 0u; count--, y += y_stride) {
    const int32_t value = tvm_pulp_xp_mac(add, *sums++, mul) >> shift;
    *y = (uint8_t)tvm_pulp_xp_min(tvm_pulp_xp_max(value, low), high);
  }
}

/* Pieces of a row: enough for all cores where rows are few, and none longer than there is room for. */
static uint32_t pieces_of(uint32_t width, uint32_t rows, uint32_t cores) {
  uint32_t pieces = (width + PIECE - 1u) / PIECE;
  while (rows * pieces < THREE * cores && width >= 2u * FEW * pieces) pieces *= 2u;
  return pieces;
}

TVM_PULP_KERNEL(depthwise_conv2d) {
  /* A copy in the own tile, as other kernels make it. */
  const struct tvm_pulp_depthwise_conv2d_args own = *args;
  const uint32_t channels = own.channels * own.multiplier;
  const int is_nine = own.kernel_height == THREE && own.kernel_width == THREE && own.dilation_x == 1u;
  /* Every window that slides has a column inside the picture. */
  const int slides = is_nine && own.stride_x == 1u && own.pad_left < THREE && own.out_width <= own.width + own.pad_left;
  const int is_signed = own.x_type == TVM_PULP_INT8;
  add_piece *const nine = slides ? (is_signed ? slide_signed : slide_unsigned) : is_signed ? jump_signed : jump_unsigned;
  add_piece *const add = is_nine ? nine : add_windows;
  const uint32_t pieces = pieces_of(own.out_width, own.out_height * channels, cores);
  const uint32_t length = (own.out_width + pieces - 1u) / pieces, places = own.out_height * pieces;
  struct piece piece = {.row_bytes = tvm_pulp_depthwise_row_bytes(own.kernel_width, own.stride_x),
                        .padding = (uint8_t)own.pad_value};
  for (uint32_t item = core; item < places * channels; item += cores) {
    const uint32_t out = item / places, place = item - out * places;
    int32_t sums[PIECE + 2];
    piece.oy = place / pieces;
    piece.ox = (place - piece.oy * pieces) * length;
    if (piece.ox >= own.out_width) continue;
    piece.count = own.out_width - piece.ox < length ? own.out_width - piece.ox : length;
    piece.x = (const uint8_t *)own.x + (own.multiplier == 1u ? out : out / own.multiplier);
    piece.weight = own.weight + out * own.kernel_height * piece.row_bytes;
    piece.bias = own.bias[out];
    add(&own, &piece, sums);
    finish(&own.requant, slides ? sums + 2 : sums, piece.count,
           (uint8_t *)own.y + piece.oy * own.y_row_stride + piece.ox * own.y_pixel_stride +
               out * tvm_pulp_result_bytes(&own.requant),
           own.y_pixel_stride, out);
  }
}
