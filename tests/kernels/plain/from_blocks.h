/* SPDX-License-Identifier: Apache-2.0
 *
 * Planes of blocks as pictures. */
#ifndef TVM_PULP_TWIN_FROM_BLOCKS_H
#define TVM_PULP_TWIN_FROM_BLOCKS_H

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_from_blocks(const struct tvm_pulp_from_blocks_args *args, uint32_t core,
                                              uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->height, core, cores);
  uint32_t bytes = args->element_bytes, block = args->block_height * args->block_width;
  for (uint32_t oy = range.begin; oy < range.end; ++oy) {
    uint32_t by = oy / args->block_height, row = oy - by * args->block_height;
    for (uint32_t ox = 0; ox < args->width; ++ox) {
      uint32_t bx = ox / args->block_width, column = ox - bx * args->block_width;
      uintptr_t from = (by * args->grid_width + bx) * block + row * args->block_width + column;
      for (uint32_t c = 0; c < args->channels; ++c) {
        const uint8_t *x = (const uint8_t *)args->x + c * (uintptr_t)args->plane_stride + from * bytes;
        uint8_t *y = (uint8_t *)args->y + ((oy * (uintptr_t)args->width + ox) * args->channels + c) * bytes;
        for (uint32_t i = 0; i < bytes; ++i) y[i] = x[i];
      }
    }
  }
}

#endif /* TVM_PULP_TWIN_FROM_BLOCKS_H */
