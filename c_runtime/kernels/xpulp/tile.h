/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine below dense, matmul and conv2d: rows of activations times rows of weights, in register tiles of
 * 4 x 4 (24 instructions per 64 MAC), 2 x 4 (14 per 32) and 1 x 4 (9 per 16), with requantization. */
#ifndef TVM_PULP_TILE_H
#define TVM_PULP_TILE_H

#include <stdint.h>

#include "scaled.h"
#include "tvm_pulp/kernels.h"

/* Read by the assembler code of tile.c at fixed offsets. */
struct tvm_pulp_tile_job {
  const int8_t *a; /* rows of activations, `stride` bytes apart */
  const int8_t *b; /* packed weights of the first tile */
  uint32_t stride; /* bytes; 4 * words */
  uint32_t words;
  const int32_t *bias;
  const int32_t *mul;    /* four per tile, or the same four for all tiles */
  uint32_t add_less_mul; /* address of the summand less that of its multiplier, less 4 */
  uint32_t channel_mask; /* 0: the same four */
  int32_t shift;
  int32_t high;
  uint8_t *y;
  uint32_t y_stride;
  uint32_t end;    /* 16 * number of tiles */
  uint32_t blocks; /* of four rows; the functions for fewer rows take one */
  int32_t same_mul; /* where all columns have the same constants */
  int32_t same_add;
  struct tvm_pulp_scaled scaled;
  const int32_t *row_bias; /* where rows have summands of their own */
};

/* How a tile ends. */
enum tvm_pulp_tile_finish { TVM_PULP_TILE_TO_SIGNED, TVM_PULP_TILE_TO_UNSIGNED, TVM_PULP_TILE_RAW };

/* One matrix of weights with everything that follows the product. */
struct tvm_pulp_tiles {
  struct tvm_pulp_tile_job job;
  const int8_t *weight;
  const int32_t *bias;
  const struct tvm_pulp_requant *requant;
  uint32_t columns;
  uint32_t x_type;
  uint32_t finish;
  uint32_t result_shift; /* log2 of the bytes of a result that the tile function writes; above 2: it writes none */
  int32_t same_mul[4], same_add[4];
};

/* `weight`: packed as kernels.h says. `stride`: bytes of a row of activations, the depth rounded up to 4. */
void tvm_pulp_tiles_prepare(struct tvm_pulp_tiles *tiles, const int8_t *weight, const int32_t *bias, uint32_t columns,
                            uint32_t stride, uint32_t x_type, const struct tvm_pulp_requant *requant);

/* Rows `a` (word aligned; up to four, or any multiple of four) times the columns of tiles [begin, end), each tile four
 * columns wide. The last tile of a matrix reaches back where columns are not a multiple of four. */
void tvm_pulp_tiles_run(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t begin, uint32_t end,
                        uint8_t *y, uint32_t y_stride);

/* The same for up to four rows, with a summand of its own for every row. */
void tvm_pulp_tiles_run_biased(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t begin,
                               uint32_t end, uint8_t *y, uint32_t y_stride, const int32_t *row_bias);

/* Rows as in tvm_pulp_tiles_run; to every sum `factor` times the sum of the row's `depth` values is added. */
void tvm_pulp_tiles_run_summed(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t begin,
                               uint32_t end, uint8_t *y, uint32_t y_stride, uint32_t depth, int32_t factor);

/* Copy words; the source may stand anywhere. */
void tvm_pulp_copy_words(void *target, const void *source, uint32_t words);

#endif /* TVM_PULP_TILE_H */
