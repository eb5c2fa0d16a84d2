/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of 2 x 2 pixels as channels, in plain C. */
#ifndef TVM_PULP_PLAIN_SPACE_TO_DEPTH_H
#define TVM_PULP_PLAIN_SPACE_TO_DEPTH_H

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

/* Pixels [first, width) of one line of the result. */
static inline void tvm_pulp_plain_block_line(const struct tvm_pulp_space_to_depth_args *args, uint32_t oy,
                                             uint32_t first) {
  uint32_t channels = args->channels, width = 2u * args->width, plane = 2u * args->height * width;
  for (uint32_t ox = first; ox < args->width; ++ox) {
    uint8_t *y = args->y + (oy * args->width + ox) * 4u * channels;
    for (uint32_t block = 0; block < 4u; ++block) {
      uint32_t pixel = (2u * oy + (block >> 1)) * width + 2u * ox + (block & 1u);
      for (uint32_t c = 0; c < channels; ++c) {
        if (args->is_planar) {
          y[4u * c + block] = args->x[c * plane + pixel] ^ (uint8_t)args->flip;
        } else {
          y[block * channels + c] = args->x[pixel * channels + c] ^ (uint8_t)args->flip;
        }
      }
    }
  }
}

#endif /* TVM_PULP_PLAIN_SPACE_TO_DEPTH_H */
