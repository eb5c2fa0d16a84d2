/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the window of an element lies that an engine left open, the sum of its products, and its result. */
#ifndef TVM_PULP_PLAIN_SETTLE_H
#define TVM_PULP_PLAIN_SETTLE_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

/* A row of the result: its first byte, its window's first pixel, which may be outside, and where that one lies. */
struct tvm_pulp_open_row {
  uint32_t begin;
  const uint8_t *x;
  uint32_t line, column;
};

static inline struct tvm_pulp_open_row tvm_pulp_open_row(const struct tvm_pulp_settle_args *p, uint32_t row) {
  const uint32_t line = row / p->width - p->pad_top, column = row % p->width - p->pad_left;
  const intptr_t down = (intptr_t)(int32_t)line * (intptr_t)p->x_line_stride;
  const intptr_t across = (intptr_t)(int32_t)column * (intptr_t)p->x_stride;
  struct tvm_pulp_open_row at = {row * p->columns, p->x + (down + across), line, column};
  return at;
}

/* Nine products of a channel, of pixels that are inside. */
static inline int32_t tvm_pulp_taps_sum(const struct tvm_pulp_settle_args *p, const struct tvm_pulp_open_row *at,
                                        uint32_t channel) {
  const int32_t sign = p->x_type == TVM_PULP_INT8 ? 128 : 0;
  const int8_t *weight = p->weight + 9u * channel;
  const uint8_t *x = at->x + channel;
  int32_t sum = 0;
  for (uint32_t y = 0; y < 3u; ++y, x += p->x_line_stride - 3u * p->x_stride) {
    const uint32_t is_inside = at->line + y < p->x_height;
    for (uint32_t i = 0; i < 3u; ++i, ++weight, x += p->x_stride) {
      if (is_inside && at->column + i < p->x_width) sum += ((*x ^ sign) - sign) * *weight;
    }
  }
  return sum;
}

static inline uint8_t tvm_pulp_settled(const struct tvm_pulp_settle_args *p, int32_t sum, uint32_t channel) {
  const int32_t *stage = p->stages + 3u * channel;
  const int32_t low = p->y_type == TVM_PULP_INT8 ? -128 : 0;
  const int32_t product = (int32_t)(((int64_t)sum * (int64_t)(uint32_t)stage[0]) >> 16);
  return (uint8_t)tvm_pulp_max(low, tvm_pulp_min(low + 255, (product + stage[1]) >> stage[2]));
}

#endif /* TVM_PULP_PLAIN_SETTLE_H */
