/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of bytes by a block of four packed columns. Answers of loads from other groups take six cycles, so everything
 * that an iteration reads is asked for in the one before it. */
#ifndef TVM_PULP_TILES_PRODUCT_H
#define TVM_PULP_TILES_PRODUCT_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/work_share.h"

/* A product: its columns, in blocks, and what becomes of sums. Every core has its own copy, which lies in its tile. */
struct tvm_pulp_blocks {
  const int8_t *weight;
  const int32_t *bias; /* or null */
  uint32_t columns, depth_stride, x_type, y_stride;
  struct tvm_pulp_requant requant;
};

/* sums[4][4] += four rows, `stride` bytes apart, by the weights; sums[4] += one row. Rows and weights are word aligned;
 * at least one word. */
void tvm_pulp_add_rows(int32_t *sums, const void *x, uint32_t stride, const int8_t *weight, uint32_t words,
                       uint32_t x_type);
void tvm_pulp_add_row(int32_t *sums, const void *x, const int8_t *weight, uint32_t words, uint32_t x_type);

/* Sums of a block begin with the bias; requantization of sums[rows][4], to y of the first row. */
void tvm_pulp_start_block(const struct tvm_pulp_blocks *blocks, int32_t *sums, uint32_t block);
void tvm_pulp_finish_block(const struct tvm_pulp_blocks *blocks, const int32_t *sums, uint32_t rows, uint32_t block,
                           void *y);

/* Rows that one core multiplies at a time: four, or one where there is too little for all cores. */
TVM_PULP_INLINE uint32_t tvm_pulp_rows_together(uint32_t rows, uint32_t column_blocks, uint32_t cores) {
  return ((rows + 3u) >> 2) * column_blocks >= cores ? TVM_PULP_BLOCK : 1u;
}

/* `rows` rows, `stride` bytes apart and word aligned, by a block. */
void tvm_pulp_multiply_block(const struct tvm_pulp_blocks *blocks, const void *x, uint32_t stride, uint32_t rows,
                             uint32_t block, void *y);

/* `count` rows of bytes that do not begin with a word, beside each other in scratch, with zeros up to whole words. */
const int8_t *tvm_pulp_stage_rows(const void *from, uint32_t from_stride, uint32_t depth, uint32_t count, uint8_t *to);

/* A product of rows that lie in memory as they are read: this core's share of its blocks. */
void tvm_pulp_multiply_in_place(const struct tvm_pulp_blocks *blocks, const int8_t *x, uint32_t stride, uint32_t rows,
                                void *y, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_TILES_PRODUCT_H */
