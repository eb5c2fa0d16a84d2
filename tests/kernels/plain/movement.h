/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that only move data. */
#ifndef TVM_PULP_TWIN_MOVEMENT_H
#define TVM_PULP_TWIN_MOVEMENT_H

#include "tvm_pulp/plain/movement.h"

static inline void tvm_pulp_plain_join_planes(const struct tvm_pulp_join_planes_args *args, uint32_t core,
                                              uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->pixels, core, cores);
  tvm_pulp_plain_join_pixels(args, range.begin, range.end);
}

static inline void tvm_pulp_plain_copy_rows(const struct tvm_pulp_copy_rows_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows * args->row_bytes, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    uint32_t row = at / args->row_bytes, i = at % args->row_bytes;
    const uint8_t *x = (const uint8_t *)args->x + (uintptr_t)row * args->x_stride;
    uint8_t *y = (uint8_t *)args->y + (uintptr_t)row * args->y_stride;
    y[i] = args->table ? args->table[core * args->table_stride + x[i]] : x[i];
  }
}

#endif /* TVM_PULP_TWIN_MOVEMENT_H */
