/* SPDX-License-Identifier: Apache-2.0
 *
 * Forms of the softmax. */
#ifndef TVM_PULP_TWIN_SOFTMAX_H
#define TVM_PULP_TWIN_SOFTMAX_H

#include "tvm_pulp/plain/softmax.h"
#include "tvm_pulp/real.h"
#include "tvm_pulp/softmax_tflite.h"

/* How often a value must be halved: a unit of the exponent is 32 steps. */
TVM_PULP_INLINE int32_t tvm_pulp_halvings(int32_t largest, int32_t value) { return (largest - value + 16) >> 5; }

/* Largest value and denominator over groups of the row, as ITA's hardware sees them. */
static inline int32_t tvm_pulp_ita_denominator(const struct tvm_pulp_softmax_ita_args *args, const void *x,
                                               int32_t *largest) {
  uint32_t group = args->group ? args->group : args->columns;
  int32_t denominator = 0;
  *largest = args->group ? -128 : tvm_pulp_row_maximum(x, args->columns, args->x_type);
  for (uint32_t first = 0; first < args->columns; first += group) {
    uint32_t count = args->columns - first < group ? args->columns - first : group;
    const void *block = (const uint8_t *)x + first;
    int32_t best = tvm_pulp_max(*largest, tvm_pulp_row_maximum(block, count, args->x_type));
    denominator = tvm_pulp_shift_right(denominator, tvm_pulp_halvings(best, *largest));
    *largest = best;
    for (uint32_t i = 0; i < count; ++i) {
      denominator += 256 >> tvm_pulp_halvings(best, tvm_pulp_load(block, i, args->x_type));
    }
  }
  return denominator;
}

static inline void tvm_pulp_plain_softmax_ita(const struct tvm_pulp_softmax_ita_args *args, uint32_t core,
                                              uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  int32_t numerator = (int32_t)((args->group ? args->levels / 2u - 1u : args->levels - 1u) * 256u);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    const void *x = tvm_pulp_row(args->x, row, args->columns);
    uint8_t *y = args->y + (uintptr_t)row * args->columns;
    int32_t largest, inverse = numerator / tvm_pulp_ita_denominator(args, x, &largest);
    for (uint32_t i = 0; i < args->columns; ++i) {
      y[i] = (uint8_t)(inverse >> tvm_pulp_halvings(largest, tvm_pulp_load(x, i, args->x_type)));
    }
  }
}

static inline void tvm_pulp_plain_softmax_tflite(const struct tvm_pulp_softmax_tflite_args *args, uint32_t core,
                                                 uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    const int8_t *x = args->x + (uintptr_t)row * args->columns;
    int8_t *y = args->y + (uintptr_t)row * args->columns;
    int32_t lowest = tvm_pulp_row_maximum(x, args->columns, TVM_PULP_INT8) - 255;
    int32_t total = 0;
    for (uint32_t i = 0; i < args->columns; ++i) total += tvm_pulp_rounding_shift(args->table[x[i] - lowest], 12);
    int32_t inverse = tvm_pulp_softmax_reciprocal(total), bits = tvm_pulp_softmax_output_bits(total);
    for (uint32_t i = 0; i < args->columns; ++i) {
      int32_t scaled = tvm_pulp_doubling_high_multiply(inverse, args->table[x[i] - lowest]);
      y[i] = (int8_t)tvm_pulp_clip(tvm_pulp_rounding_shift(scaled, bits) - 128, -128, 127);
    }
  }
}

static inline void tvm_pulp_plain_softmax_table(const struct tvm_pulp_softmax_table_args *args, uint32_t core,
                                                uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    const void *x = tvm_pulp_row(args->x, row, args->columns);
    uint8_t *y = args->y + (uintptr_t)row * args->columns;
    int32_t lowest = tvm_pulp_row_maximum(x, args->columns, args->x_type) - 255, total = 0;
    for (uint32_t i = 0; i < args->columns; ++i) total += args->table[tvm_pulp_load(x, i, args->x_type) - lowest];
    float factor = args->gain[0] / (float)total;
    for (uint32_t i = 0; i < args->columns; ++i) {
      float scaled = (float)args->table[tvm_pulp_load(x, i, args->x_type) - lowest] * factor;
      y[i] = (uint8_t)(tvm_pulp_round_within(scaled, 0, args->high) + args->zero_point);
    }
  }
}

#endif /* TVM_PULP_TWIN_SOFTMAX_H */
