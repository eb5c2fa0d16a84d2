/* SPDX-License-Identifier: Apache-2.0
 *
 * Pixel after pixel, whose channels are gathered. */
#include "gather.h"

TVM_PULP_KERNEL(from_blocks) {
  uint32_t bytes = args->element_bytes, width = args->block_width, channels = args->channels;
  uint32_t block = args->block_height * width * bytes, blocks = args->grid_width * block;
  struct tvm_pulp_range range = tvm_pulp_share(args->height * args->width, core, cores);
  uint32_t oy = range.begin / args->width, ox = range.begin - oy * args->width;
  uint8_t *y = (uint8_t *)args->y + range.begin * channels * bytes;
  for (uint32_t left = range.end - range.begin; left > 0u; ++oy, ox = 0) {
    uint32_t by = oy / args->block_height, bx = ox / width, column = ox - bx * width;
    const uint8_t *line = (const uint8_t *)args->x + by * blocks + (oy - by * args->block_height) * width * bytes;
    const uint8_t *x = line + bx * block + column * bytes;
    uint32_t count = args->width - ox < left ? args->width - ox : left;
    left -= count;
    for (; count > 0u; --count, y += channels * bytes) {
      if (bytes == 4u) {
        tvm_pulp_gather_words(x, y, channels, args->plane_stride);
      } else {
        tvm_pulp_gather_bytes(x, y, channels, args->plane_stride);
      }
      x += bytes;
      if (++column == width) {
        column = 0;
        x += block - width * bytes;
      }
    }
  }
}
