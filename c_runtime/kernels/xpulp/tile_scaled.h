/* SPDX-License-Identifier: Apache-2.0
 *
 * Register tiles that end in a promised requantization (scaled.h). */
#ifndef TVM_PULP_TILE_SCALED_H
#define TVM_PULP_TILE_SCALED_H

#include "tile.h"

/* Constants of the job, after tvm_pulp_tiles_prepare. */
void tvm_pulp_tiles_prepare_scaled(struct tvm_pulp_tiles *tiles);

/* The job, whose operands are set, for up to four rows or any multiple of four. */
void tvm_pulp_tiles_scaled(struct tvm_pulp_tiles *tiles, uint32_t rows);

#endif /* TVM_PULP_TILE_SCALED_H */
