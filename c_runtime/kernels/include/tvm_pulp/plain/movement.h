/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that only move data, in plain C. */
#ifndef TVM_PULP_PLAIN_MOVEMENT_H
#define TVM_PULP_PLAIN_MOVEMENT_H

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_transpose(const struct tvm_pulp_transpose_args *args, uint32_t core, uint32_t cores) {
  uint32_t lines = args->size0 * args->size1 * args->size2, inner = args->size3, bytes = args->element_bytes;
  struct tvm_pulp_range range = tvm_pulp_share(lines * inner, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    uint32_t line = at / inner, i3 = at % inner, i2 = line % args->size2, i1 = line / args->size2 % args->size1;
    uint32_t i0 = line / args->size2 / args->size1;
    const uint8_t *x = (const uint8_t *)args->x + (uintptr_t)i0 * args->stride0 + (uintptr_t)i1 * args->stride1 +
                       (uintptr_t)i2 * args->stride2 + (uintptr_t)i3 * args->stride3;
    uint8_t *y = (uint8_t *)args->y + (uintptr_t)at * bytes;
    for (uint32_t i = 0; i < bytes; ++i) y[i] = x[i];
  }
}

static inline void tvm_pulp_plain_join_pixels(const struct tvm_pulp_join_planes_args *args, uint32_t begin,
                                              uint32_t end) {
  for (uint32_t i = begin; i < end; ++i)
    for (uint32_t plane = 0; plane < 3u; ++plane) args->y[3u * i + plane] = args->x[plane * args->plane_stride + i];
}

#endif /* TVM_PULP_PLAIN_MOVEMENT_H */
