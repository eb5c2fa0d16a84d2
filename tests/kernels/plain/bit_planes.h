/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes as planes of bits, in plain C. */
#ifndef TVM_PULP_TWIN_BIT_PLANES_H
#define TVM_PULP_TWIN_BIT_PLANES_H

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_bit_planes(const struct tvm_pulp_bit_planes_args *args, uint32_t core,
                                             uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->matrices * args->rows, core, cores);
  uintptr_t along = args->turned ? args->x_stride : 1u, across = args->turned ? 1u : args->x_stride;
  for (uint32_t at = range.begin; at < range.end; ++at) {
    const uint8_t *x = args->x + at / args->rows * (uintptr_t)args->x_matrix_stride + at % args->rows * across;
    uint8_t *y = args->y + at * (uintptr_t)args->y_stride;
    for (uint32_t first = 0; first < args->y_stride; first += 4u) {
      uint32_t word = 0;
      for (uint32_t j = 0; j < 4u && first + j < args->depth; ++j) {
        uint32_t value = x[(first + j) * along] ^ (args->flip & 0xffu);
        for (uint32_t plane = 0; plane < 8u; ++plane) word |= (value >> plane & 1u) << (4u * plane + j);
      }
      for (uint32_t j = 0; j < 4u; ++j) y[first + j] = (uint8_t)(word >> (8u * j));
    }
  }
}

#endif /* TVM_PULP_TWIN_BIT_PLANES_H */
