/* SPDX-License-Identifier: Apache-2.0
 *
 * Register tiles that end in the requantization high_word (kernels.h). */
#ifndef TVM_PULP_TILE_HIGH_WORD_H
#define TVM_PULP_TILE_HIGH_WORD_H

#include "tile.h"

/* As tvm_pulp_tiles_run, for a matrix of at least four columns. */
void tvm_pulp_tiles_run_high_word(struct tvm_pulp_tiles *tiles, const int8_t *a, uint32_t rows, uint32_t begin,
                                  uint32_t end, uint8_t *y, uint32_t y_stride);

#endif /* TVM_PULP_TILE_HIGH_WORD_H */
