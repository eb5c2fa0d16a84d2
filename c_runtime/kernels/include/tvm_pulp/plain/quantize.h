/* SPDX-License-Identifier: Apache-2.0
 *
 * Floats as bytes in plain C. */
#ifndef TVM_PULP_PLAIN_QUANTIZE_H
#define TVM_PULP_PLAIN_QUANTIZE_H

#include "tvm_pulp/float.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

/* Part of the scale within which the product with the reciprocal decides: a little less than half. */
#define TVM_PULP_QUANTIZE_SURE (0.5f - 0x1p-10f)

static inline void tvm_pulp_plain_quantize_piece(const struct tvm_pulp_quantize_args *args, const float *x, uint8_t *y,
                                                 uint32_t count) {
  const float scale = args->reals[0], reciprocal = args->reals[1], sure = scale * TVM_PULP_QUANTIZE_SURE;
  const int32_t low = args->y_type == TVM_PULP_INT8 ? -128 : 0;
  for (uint32_t i = 0; i < count; ++i, y += args->y_step) {
    *y = (uint8_t)tvm_pulp_quantize(x[i], scale, reciprocal, sure, args->zero_point, low, low + 255);
  }
}

/* Rows of y: bytes of a pixel that no plane has are the last plane again. */
static inline uint32_t tvm_pulp_quantize_y_rows(const struct tvm_pulp_quantize_args *args) {
  return args->y_stride == 1u && args->y_step > args->rows ? args->y_step : args->rows;
}

/* The part of a core, row by row. */
#define TVM_PULP_QUANTIZE_ROWS(PIECE)                                                                           \
  const uint32_t columns = args->columns, rows = tvm_pulp_quantize_y_rows(args);                               \
  struct tvm_pulp_range range = tvm_pulp_share_words(rows * columns, core, cores);                             \
  uint32_t row = rows == 1u ? 0u : range.begin / columns, column = range.begin - row * columns;                \
  for (uint32_t left = range.end - range.begin; left > 0u; ++row) {                                            \
    const uint32_t count = columns - column < left ? columns - column : left;                                  \
    const uint32_t plane = row < args->rows ? row : args->rows - 1u;                                           \
    PIECE(args, args->x + plane * columns + column, args->y + row * args->y_stride + column * args->y_step, count); \
    left -= count;                                                                                             \
    column = 0;                                                                                                \
  }

#endif /* TVM_PULP_PLAIN_QUANTIZE_H */
