/* SPDX-License-Identifier: Apache-2.0
 *
 * Rotary embedding of quantize/dequantize graphs in plain C. */
#ifndef TVM_PULP_PLAIN_QDQ_ROPE_H
#define TVM_PULP_PLAIN_QDQ_ROPE_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/real.h"
#include "tvm_pulp/work_share.h"

/* Half a row: `x` its elements, `other` those of the other half. */
static inline void tvm_pulp_plain_qdq_rope_half(const struct tvm_pulp_qdq_rope_args *args, const uint8_t *x,
                                                const uint8_t *other, const uint8_t *table, const uint8_t *cosine,
                                                const uint8_t *sine, uint8_t *y) {
  const float *r = args->reals;
  for (uint32_t i = 0; i < args->size / 2u; ++i) {
    int32_t kept = (tvm_pulp_load(x, i, args->x_type) - args->zero_point_x) *
                   (tvm_pulp_load(cosine, i, args->cosine_type) - args->zero_point_cosine);
    int32_t turned = (tvm_pulp_load(table, other[i], args->partner_type) - args->zero_point_partner) *
                     (tvm_pulp_load(sine, i, args->sine_type) - args->zero_point_sine);
    kept = tvm_pulp_round_within((float)kept * r[0], args->kept_low, args->kept_high);
    turned = tvm_pulp_round_within((float)turned * r[1], args->turned_low, args->turned_high);
    float left = (float)kept * r[2], right = (float)turned * r[3];
    y[i] = (uint8_t)(tvm_pulp_round_within(left + right, args->low, args->high) + args->zero_point);
  }
}

/* Position of a row. */
static inline uint32_t tvm_pulp_qdq_rope_position(const struct tvm_pulp_qdq_rope_args *args, uint32_t row) {
  uint32_t turn = args->rows_per_position == 1u ? row : row / args->rows_per_position;
  return args->positions == 1u ? 0u : turn % args->positions;
}

static inline void tvm_pulp_plain_qdq_rope(const struct tvm_pulp_qdq_rope_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  uint32_t half = args->size / 2u;
  for (uint32_t row = range.begin; row < range.end; ++row) {
    uint32_t at = tvm_pulp_qdq_rope_position(args, row) * args->size;
    const uint8_t *x = args->x + row * args->size, *cosine = args->cosine + at, *sine = args->sine + at;
    uint8_t *y = args->y + row * args->size;
    tvm_pulp_plain_qdq_rope_half(args, x, x + half, args->first, cosine, sine, y);
    tvm_pulp_plain_qdq_rope_half(args, x + half, x, args->second, cosine + half, sine + half, y + half);
  }
}

#endif /* TVM_PULP_PLAIN_QDQ_ROPE_H */
