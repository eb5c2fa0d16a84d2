/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures as planes of blocks, in plain C. */
#ifndef TVM_PULP_PLAIN_BLOCKS_H
#define TVM_PULP_PLAIN_BLOCKS_H

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_to_blocks(const struct tvm_pulp_to_blocks_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->channels, core, cores);
  uint32_t columns = 4u * args->grid_width, block = 4u * args->block_height;
  for (uint32_t c = range.begin; c < range.end; ++c) {
    uint8_t *y = args->y + c * (uintptr_t)args->plane_stride;
    for (uint32_t line = 0; line < args->grid_height * args->block_height; ++line) {
      uint32_t by = line / args->block_height, iy = line - args->top;
      uint8_t *to = y + by * args->grid_width * block + 4u * (line - by * args->block_height);
      for (uint32_t column = 0; column < columns; ++column) {
        uint32_t ix = column - args->left, is_inside = iy < args->height && ix < args->width;
        uintptr_t from = (iy * (uintptr_t)args->width + ix) * args->channels + c;
        to[(column >> 2) * block + (column & 3u)] = is_inside ? args->x[from] : (uint8_t)args->pad_value;
      }
    }
  }
}

#endif /* TVM_PULP_PLAIN_BLOCKS_H */
