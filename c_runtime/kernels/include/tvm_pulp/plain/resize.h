/* SPDX-License-Identifier: Apache-2.0
 *
 * Resizing of images, in plain C. */
#ifndef TVM_PULP_PLAIN_RESIZE_H
#define TVM_PULP_PLAIN_RESIZE_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

/* A pixel of the image, by its tap. */
TVM_PULP_INLINE const uint8_t *tvm_pulp_resize_tap(const struct tvm_pulp_resize_args *a, uint32_t oy, uint32_t i,
                                                   uint32_t ox, uint32_t j) {
  uint32_t row = (uint32_t)a->rows[oy * a->row_taps + i] - a->first_row;
  return a->x + (row * a->width + (uint32_t)a->columns[ox * a->column_taps + j]) * a->channels;
}

/* Channel c of a pixel of the result near a half: `lower`, or one more if the sum of floats says so. */
static __attribute__((noinline, unused)) int32_t tvm_pulp_resize_tie(const struct tvm_pulp_resize_args *a, uint32_t oy,
                                                                     uint32_t ox, uint32_t c, int32_t lower) {
  uint8_t flip = a->x_type == TVM_PULP_INT8 ? 0x80u : 0u;
  float sum = 0.0f;
  for (uint32_t i = 0; i < a->row_taps; ++i) {
    for (uint32_t j = 0; j < a->column_taps; ++j) {
      float weight = a->real_rows[oy * a->row_taps + i] * a->real_columns[ox * a->column_taps + j];
      float term = weight * a->values[tvm_pulp_resize_tap(a, oy, i, ox, j)[c] ^ flip];
      sum = i + j == 0u ? term : sum + term;
    }
  }
  int32_t place = tvm_pulp_clip(lower - (a->y_type == TVM_PULP_INT8 ? -128 : 0), 0, 255);
  int32_t decided = sum >= a->thresholds[place] ? lower + 1 : lower;
  return tvm_pulp_clip(decided, a->requant.low, a->requant.high);
}

TVM_PULP_INLINE int32_t tvm_pulp_resize_element(const struct tvm_pulp_resize_args *a, uint32_t oy, uint32_t ox,
                                                uint32_t c) {
  int32_t acc = -a->zero_point * (1 << a->fraction);
  for (uint32_t j = 0; j < a->column_taps; ++j) {
    int32_t line = (1 << a->middle) >> 1;
    for (uint32_t i = 0; i < a->row_taps; ++i) {
      int32_t value = tvm_pulp_load(tvm_pulp_resize_tap(a, oy, i, ox, j), c, a->x_type);
      line += a->row_weights[oy * a->row_taps + i] * value;
    }
    acc += a->column_weights[ox * a->column_taps + j] * (line >> a->middle);
  }
  if (a->thresholds) {
    int32_t rest = (acc & ((1 << a->fraction) - 1)) - ((1 << a->fraction) >> 1);
    if (rest >= -a->slack && rest <= a->slack) {
      return tvm_pulp_resize_tie(a, oy, ox, c, (acc >> a->fraction) + a->requant.zero_point);
    }
  }
  return tvm_pulp_requantize_any(&a->requant, acc, 0);
}

static inline void tvm_pulp_plain_resize(const struct tvm_pulp_resize_args *a, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(a->out_height * a->out_width, core, cores);
  uint32_t oy = range.begin / a->out_width, ox = range.begin - oy * a->out_width;
  uint8_t *y = a->y + range.begin * a->channels;
  for (uint32_t pixel = range.begin; pixel < range.end; ++pixel, y += a->channels) {
    for (uint32_t c = 0; c < a->channels; ++c) {
      y[c] = a->column_weights ? (uint8_t)tvm_pulp_resize_element(a, oy, ox, c) : tvm_pulp_resize_tap(a, oy, 0, ox, 0)[c];
    }
    if (++ox == a->out_width) {
      ox = 0;
      ++oy;
    }
  }
}

#endif /* TVM_PULP_PLAIN_RESIZE_H */
