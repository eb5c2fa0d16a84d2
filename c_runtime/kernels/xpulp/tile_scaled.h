/* SPDX-License-Identifier: Apache-2.0
 *
 * Register tiles that end in a promised requantization (scaled.h). */
#ifndef TVM_PULP_TILE_SCALED_H
#define TVM_PULP_TILE_SCALED_H

#include "tile.h"

/* As tvm_pulp_tiles_run, for a matrix of at least four columns; `row_bias`: a summand for every row, or null. */
void tvm_pulp_tiles_run_scaled(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t begin,
                               uint32_t end, uint8_t *y, uint32_t y_stride, const int32_t *row_bias);

#endif /* TVM_PULP_TILE_SCALED_H */
