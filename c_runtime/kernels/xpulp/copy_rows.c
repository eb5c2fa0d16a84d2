/* SPDX-License-Identifier: Apache-2.0 */
#include "four_elements.h"
#include "tile.h"

static void copy_piece(const uint8_t *x, uint8_t *y, uint32_t bytes) {
  uint32_t whole = bytes & ~3u;
  tvm_pulp_copy_words(y, x, whole >> 2);
  for (uint32_t i = whole; i < bytes; ++i) y[i] = x[i];
}

static void look_up_piece(const uint8_t *x, uint8_t *y, const uint8_t *table, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) y[i] = table[x[i]];
}

TVM_PULP_KERNEL(copy_rows) {
  uint32_t bytes = args->row_bytes;
  TVM_PULP_EACH_PIECE(args->rows, bytes, args->x_stride == bytes && args->y_stride == bytes, core, cores, {
    const uint8_t *x = (const uint8_t *)args->x + row * args->x_stride + column;
    uint8_t *y = (uint8_t *)args->y + row * args->y_stride + column;
    if (args->table) {
      look_up_piece(x, y, args->table, count);
    } else {
      copy_piece(x, y, count);
    }
  });
}
