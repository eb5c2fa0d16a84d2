/* SPDX-License-Identifier: Apache-2.0
 *
 * Work is shared in tiles of four rows and four columns. */
#include "tile.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

/* Rows that cannot be used where they are: four at a time into the scratch area. */
static const int8_t *stage_rows(const struct tvm_pulp_dense_args *args, const int8_t *x, uint32_t rows, uint32_t core) {
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  for (uint32_t row = 0; row < rows; ++row) {
    tvm_pulp_copy_words(scratch + row * args->depth_stride, x + row * args->x_stride, args->depth_stride >> 2);
  }
  return (const int8_t *)scratch;
}

TVM_PULP_KERNEL(dense) {
  uint32_t column_tiles = (args->columns + 3u) >> 2;
  struct tvm_pulp_range range = tvm_pulp_share(((args->rows + 3u) >> 2) * column_tiles, core, cores);
  uint32_t left = range.end - range.begin, first = 0, begin = range.begin;
  if (left == 0u) return;
  if (args->rows > 4u) {
    first = begin / column_tiles;
    begin -= first * column_tiles;
    first *= 4u;
  }
  struct tvm_pulp_tiles tiles;
  tvm_pulp_tiles_prepare(&tiles, args->weight, args->bias, args->columns, args->depth_stride, args->x_type,
                         &args->requant);
  uint32_t direct = ((uintptr_t)args->x & 3u) == 0u && (args->x_stride == args->depth_stride || args->rows == 1u);
  const int8_t *x = args->x + first * args->x_stride;
  uint8_t *y = (uint8_t *)args->y + first * args->y_stride;
  for (;;) {
    uint32_t end = begin + left < column_tiles ? begin + left : column_tiles;
    uint32_t remaining = args->rows - first, rows = remaining < 4u ? remaining : 4u;
    left -= end - begin;
    /* As many whole blocks of four rows as are mine, in one go. */
    if (begin == 0u && direct) {
      for (; left >= column_tiles && remaining >= rows + 4u; left -= column_tiles) rows += 4u;
    }
    const int8_t *source = direct ? x : stage_rows(args, x, rows, core);
    tvm_pulp_tiles_run(&tiles, source, rows, begin, end, y, args->y_stride);
    if (left == 0u) return;
    begin = 0;
    first += rows;
    x += rows * args->x_stride;
    y += rows * args->y_stride;
  }
}
