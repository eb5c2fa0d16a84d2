/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles of four rows and four columns, part by part of the depth: 32-bit sums of a part are added to those of 64 bits. */
#include "tile.h"
#include "tvm_pulp/elements.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

enum { SIDE = 4 };

/* Sums of up to four rows and the columns of a tile; the bias is added where the first part starts. */
static void sum_parts(struct tvm_pulp_tiles *tiles, const struct tvm_pulp_long_dense_args *args, const int8_t *x,
                      uint32_t rows, const int8_t *weight, const int32_t *bias, int64_t *sums) {
  static const int32_t none[SIDE];
  int32_t block[SIDE * SIDE];
  for (uint32_t i = 0; i < SIDE * SIDE; ++i) sums[i] = 0;
  tiles->bias = bias;
  for (uint32_t at = 0; at < args->depth_stride; at += args->part) {
    uint32_t left = args->depth_stride - at;
    tiles->weight = weight + SIDE * at;
    tiles->job.words = (left < args->part ? left : args->part) >> 2;
    tvm_pulp_tiles_run(tiles, x + at, rows, 0, 1, (uint8_t *)block, SIDE * sizeof(int32_t));
    for (uint32_t i = 0; i < SIDE * rows; ++i) sums[i] += block[i];
    tiles->bias = none;
  }
}

TVM_PULP_KERNEL(long_dense) {
  static const struct tvm_pulp_requant raw = {.kind = TVM_PULP_REQUANT_NONE};
  uint32_t column_tiles = (args->columns + SIDE - 1u) / SIDE;
  struct tvm_pulp_range range = tvm_pulp_share((args->rows + SIDE - 1u) / SIDE * column_tiles, core, cores);
  struct tvm_pulp_tiles tiles;
  tvm_pulp_tiles_prepare(&tiles, args->weight, args->bias, SIDE, args->depth_stride, args->x_type, &raw);
  for (uint32_t place = range.begin; place < range.end; ++place) {
    uint32_t row = SIDE * (place / column_tiles), tile = place % column_tiles, column = SIDE * tile;
    uint32_t rows = args->rows - row < SIDE ? args->rows - row : SIDE;
    uint32_t columns = args->columns < SIDE ? args->columns : SIDE;
    if (column + SIDE > args->columns) column = args->columns - columns;
    int32_t bias[SIDE] = {0};
    for (uint32_t i = 0; i < columns; ++i) bias[i] = args->bias[column + i];
    int64_t sums[SIDE * SIDE];
    sum_parts(&tiles, args, args->x + row * args->depth_stride, rows,
              args->weight + SIDE * tile * args->depth_stride, bias, sums);
    for (uint32_t i = 0; i < rows; ++i) {
      void *y = tvm_pulp_out_row(args->y, row + i, args->y_stride);
      for (uint32_t j = 0; j < columns; ++j) {
        tvm_pulp_finish_long(&args->requant, y, column + j, sums[SIDE * i + j], column + j);
      }
    }
  }
}
