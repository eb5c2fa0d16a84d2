/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions and matrix products: values of pixels are put into patches, blocks of which product.h multiplies. */
#ifndef TVM_PULP_CONVOLUTION_H
#define TVM_PULP_CONVOLUTION_H

#include "product.h"
#include "window.h"

typedef void (*tvm_pulp_multiply)(const struct tvm_pulp_product *product);

/* Results of a layer, and memory to work in. */
struct tvm_pulp_results {
  int8_t *y;
  int32_t channels;
  tvm_pulp_multiply multiply;
  tvm_pulp_rule rule; /* 0: `multiply` makes results, not sums */
  const int32_t *constants;
  void *spare; /* of a block: sums, or results where channels do not fill blocks or pixels do not */
};

TVM_PULP_INLINE void tvm_pulp_finish(struct tvm_pulp_product *product, const struct tvm_pulp_results *r, int32_t pixel,
                                     int32_t count) {
  const int32_t channels = r->channels, blocks = (channels + TVM_PULP_CHANNELS - 1) / TVM_PULP_CHANNELS;
  const int direct = r->rule == 0 && channels % TVM_PULP_CHANNELS == 0;
  int8_t *y = r->y + pixel * channels, *spare = r->spare;
  int32_t *sums = r->spare;
  const int32_t apart = blocks * TVM_PULP_CHANNELS;
  for (int32_t i = 0; i < TVM_PULP_PIXELS; i++) {
    if (r->rule != 0)
      product->y[i] = sums + i * apart;
    else
      product->y[i] = direct && i < count ? y + i * channels : spare + i * apart;
  }
  r->multiply(product);
  if (direct) return;
  for (int32_t i = 0; i < count; i++) {
    for (int32_t k = 0; k < channels; k++)
      y[i * channels + k] = (int8_t)(r->rule != 0 ? r->rule(sums[i * apart + k], k, r->constants) : spare[i * apart + k]);
  }
}

/* Depth of a patch. */
TVM_PULP_INLINE int32_t tvm_pulp_depth(int32_t values) {
  return (values + TVM_PULP_DEPTH - 1) / TVM_PULP_DEPTH * TVM_PULP_DEPTH;
}

/* Values of a window into the patch; in pieces of other sizes than words by way of a line. */
TVM_PULP_INLINE void tvm_pulp_gather(const struct tvm_pulp_window *w, const int8_t *const *rows, int32_t column,
                                     tvm_pulp_lane *patch, int32_t pixel, int8_t *line) {
  const int32_t whole = w->dilation_width == 1, step = w->dilation_width * w->channels;
  const int32_t run = whole ? w->kernel_width * w->channels : w->channels;
  const int32_t depth = tvm_pulp_depth(w->kernel_height * w->kernel_width * w->channels);
  int32_t at = 0;
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    const int8_t *from = rows[ky] + column * w->stride_width * w->channels;
    for (int32_t kx = 0; kx < (whole ? 1 : w->kernel_width); kx++, at += run, from += step) {
      if (run % 4 == 0)
        tvm_pulp_put(patch, pixel, at, depth, from, run, w->is_unsigned);
      else
        tvm_pulp_copy_bytes(line + at, from, run);
    }
  }
  if (run % 4 != 0) tvm_pulp_put(patch, pixel, 0, depth, line, depth, w->is_unsigned);
}

TVM_PULP_INLINE void tvm_pulp_convolve(const struct tvm_pulp_window *w, struct tvm_pulp_product *product,
                                       const struct tvm_pulp_results *results, const int8_t *x, tvm_pulp_lane *patch,
                                       int8_t *rows, int8_t *line) {
  const int32_t pixels = w->out_height * w->out_width;
  const int8_t *found[w->kernel_height];
  int32_t next = 0, filled = 0, pixel = 0;
  tvm_pulp_begin_rows(w, rows);
  for (int32_t oy = 0; oy < w->out_height; oy++) {
    tvm_pulp_find_rows(w, x, rows, oy, &next, found);
    for (int32_t ox = 0; ox < w->out_width; ox++) {
      tvm_pulp_gather(w, found, ox, patch, filled, line);
      if (++filled == TVM_PULP_PIXELS) {
        tvm_pulp_finish(product, results, pixel, TVM_PULP_PIXELS);
        pixel += TVM_PULP_PIXELS;
        filled = 0;
      }
    }
  }
  if (pixels % TVM_PULP_PIXELS != 0) tvm_pulp_finish(product, results, pixel, filled);
}

/* Rows of a matrix, each a pixel of `depth` values that lie side by side. */
TVM_PULP_INLINE void tvm_pulp_multiply_rows(int32_t rows, int32_t depth, int32_t is_unsigned,
                                            struct tvm_pulp_product *product, const struct tvm_pulp_results *results,
                                            const int8_t *x, tvm_pulp_lane *patch, int8_t *line) {
  const int32_t padded = tvm_pulp_depth(depth), count_put = depth % 4 != 0 ? padded : depth;
  for (int32_t row = 0; row < rows; row += TVM_PULP_PIXELS) {
    const int32_t count = rows - row < TVM_PULP_PIXELS ? rows - row : TVM_PULP_PIXELS;
    for (int32_t i = 0; i < count; i++, x += depth) {
      if (depth % 4 != 0) tvm_pulp_copy_bytes(line, x, depth);
      tvm_pulp_put(patch, i, 0, padded, depth % 4 != 0 ? line : x, count_put, is_unsigned);
    }
    tvm_pulp_finish(product, results, row, count);
  }
}

#ifndef TVM_PULP_PUT_ONE /* by itself a pixel lies as the first of a block does */
TVM_PULP_INLINE void tvm_pulp_put_one(tvm_pulp_lane *patch, const void *values, int32_t count, int32_t is_unsigned) {
  tvm_pulp_put(patch, 0, 0, 0, values, count, is_unsigned);
}
#endif

/* One row; `multiply` is that for one pixel. */
TVM_PULP_INLINE void tvm_pulp_multiply_row(int32_t depth, int32_t is_unsigned, struct tvm_pulp_product *product,
                                           const struct tvm_pulp_results *results, const int8_t *x,
                                           tvm_pulp_lane *patch, int8_t *line) {
  if (depth % 4 != 0) tvm_pulp_copy_bytes(line, x, depth);
  tvm_pulp_put_one(patch, depth % 4 != 0 ? line : x, depth % 4 != 0 ? tvm_pulp_depth(depth) : depth, is_unsigned);
  tvm_pulp_finish(product, results, 0, 1);
}

#endif /* TVM_PULP_CONVOLUTION_H */
