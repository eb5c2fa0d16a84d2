/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalizations of rows in plain C. */
#ifndef TVM_PULP_PLAIN_NORM_H
#define TVM_PULP_PLAIN_NORM_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

TVM_PULP_INLINE void tvm_pulp_store_level(void *y, uint32_t index, int64_t value, uint32_t levels) {
  int32_t half = (int32_t)(levels / 2u), clipped = tvm_pulp_clip_wide(value, -half, half - 1);
  if (levels <= 256u) {
    ((int8_t *)y)[index] = (int8_t)clipped;
  } else {
    ((int32_t *)y)[index] = clipped;
  }
}

/* The integer behind a real: `unit` is 2^(shift - 16). */
TVM_PULP_INLINE float tvm_pulp_norm_unit(int32_t shift) {
  return shift < 16 ? 1.0f / (float)(1 << (16 - shift)) : (float)(1 << (shift - 16));
}

static inline void tvm_pulp_plain_rms_norm(const struct tvm_pulp_rms_norm_args *args, uint32_t core, uint32_t cores) {
  uint32_t columns = args->columns;
  float unit = tvm_pulp_norm_unit(args->shift);
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    uint32_t first = row * columns;
    int32_t squares = 0;
    for (uint32_t i = 0; i < columns; ++i) {
      int32_t x = tvm_pulp_load(args->x, first + i, args->x_type);
      squares += x * x;
    }
    int32_t root = tvm_pulp_isqrt(squares / (int32_t)columns + 1);
    for (uint32_t i = 0; i < columns; ++i) {
      int32_t weight = args->real_weight ? (int32_t)(args->real_weight[i] * unit) : args->double_weight[i] / 2;
      int64_t product = (int64_t)tvm_pulp_load(args->x, first + i, args->x_type) * weight;
      tvm_pulp_store_level(args->y, first + i, product / root >> args->shift, args->levels);
    }
  }
}

static inline void tvm_pulp_plain_layer_norm(const struct tvm_pulp_layer_norm_args *args, uint32_t core,
                                             uint32_t cores) {
  uint32_t columns = args->columns;
  float unit = tvm_pulp_norm_unit(args->shift);
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    uint32_t first = row * columns;
    int32_t total = 0, squares = 0;
    for (uint32_t i = 0; i < columns; ++i) total += tvm_pulp_load(args->x, first + i, args->x_type);
    int32_t mean = total / (int32_t)columns;
    for (uint32_t i = 0; i < columns; ++i) {
      int32_t d = tvm_pulp_load(args->x, first + i, args->x_type) - mean;
      squares += d * d;
    }
    int32_t root = tvm_pulp_isqrt(squares / (int32_t)columns + 1);
    for (uint32_t i = 0; i < columns; ++i) {
      int32_t weight = args->real_weight ? (int32_t)(args->real_weight[i] * unit) : args->double_weight[i] / 2;
      int32_t bias = args->real_bias ? (int32_t)((args->real_bias[i] - (float)args->lift) * unit) : args->bias[i];
      int64_t product = (int64_t)(tvm_pulp_load(args->x, first + i, args->x_type) - mean) * weight;
      tvm_pulp_store_level(args->y, first + i, (product / root + bias) >> args->shift, args->levels);
    }
  }
}

#endif /* TVM_PULP_PLAIN_NORM_H */
