/* SPDX-License-Identifier: Apache-2.0
 *
 * Normalizations of quantize/dequantize graphs. */
#ifndef TVM_PULP_TWIN_QDQ_NORM_H
#define TVM_PULP_TWIN_QDQ_NORM_H

#include "tvm_pulp/plain/qdq_norm.h"

static inline void tvm_pulp_plain_qdq_norm(const struct tvm_pulp_qdq_norm_args *args, uint32_t core, uint32_t cores) {
  uint32_t columns = args->columns;
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    uint32_t first = row * columns, squares = 0;
    int32_t total = 0;
    for (uint32_t i = 0; i < columns; ++i) {
      int32_t x = tvm_pulp_load(args->x, first + i, args->x_type);
      total += x;
      squares += (uint32_t)(x * x);
    }
    float factor = tvm_pulp_qdq_norm_factor(args, total, squares);
    for (uint32_t i = 0; i < columns; ++i) {
      int32_t x = tvm_pulp_load(args->x, first + i, args->x_type);
      int32_t a = args->centred ? (int32_t)columns * x - total : x - args->zero_point_x;
      args->y[first + i] = (uint8_t)tvm_pulp_qdq_norm_value(args, (float)a * factor, i);
    }
  }
}

#endif /* TVM_PULP_TWIN_QDQ_NORM_H */
