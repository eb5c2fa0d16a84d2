/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows times packed weights: two rows are laid out as pairs in scratch, then meet two columns at a time. */
#include "tvm_pulp/plain/dense.h"

#include "pairs.h"

/* A row as pairs; `signs` makes its bytes signed ones that have 128 added. What stands behind it meets weights of 0. */
static void lay_out(uint32_t *pairs, const uint8_t *row, uint32_t depth, uint32_t words, uint32_t signs) {
  if (((uintptr_t)row & 3u) == 0u) {
    const uint32_t *word = (const uint32_t *)(const void *)row;
    for (uint32_t i = 0; i < words; i++) tvm_pulp_put_pairs(pairs + 2u * i, word[i], signs);
    return;
  }
  const uint32_t whole = depth >> 2;
  for (uint32_t i = 0; i < whole; i++, row += 4) {
    const uint32_t a = row[0], b = row[1], c = row[2], d = row[3];
    tvm_pulp_put_pairs(pairs + 2u * i, a | b << 8 | c << 16 | d << 24, signs);
  }
  uint32_t last = 0;
  for (uint32_t k = 0; k < (depth & 3u); k++) last |= (uint32_t)row[k] << 8u * k;
  for (uint32_t i = whole; i < words; i++, last = 0) tvm_pulp_put_pairs(pairs + 2u * i, last, signs);
}

static int32_t row_sum(const void *row, uint32_t depth, uint32_t type) {
  int32_t sum = 0;
  for (uint32_t k = 0; k < depth; k++) sum += tvm_pulp_load(row, k, type);
  return sum;
}

/* Two rows by the columns from `first` to `last`, two at a time. */
static void multiply(const struct tvm_pulp_dense_args *args, const uint32_t *pairs, uint32_t row, const int32_t *more,
                     uint32_t first, uint32_t last) {
  const uint32_t words = args->depth_stride >> 2, is_unsigned = args->x_type == TVM_PULP_UINT8;
  const int has_second = row + 1u < args->rows;
  void *const y0 = tvm_pulp_out_row(args->y, row, args->y_stride);
  void *const y1 = tvm_pulp_out_row(args->y, row + 1u, args->y_stride);
  for (uint32_t column = first; column < last; column += 2u) {
    /* A last column that is alone meets its left neighbour again. */
    const uint32_t alone = column + 1u == args->columns ? 1u : 0u;
    const uint32_t at = tvm_pulp_packed_at(column, 0, args->columns, args->depth_stride);
    const uint32_t *weight = (const uint32_t *)(const void *)(args->weight + at) - alone;
    const struct tvm_pulp_four sums = tvm_pulp_two_by_two(pairs, pairs + 2u * words, weight, words);
    for (uint32_t i = alone; i < 2u; i++) {
      const uint32_t place = column + i - alone;
      int32_t start = args->bias ? args->bias[place] : 0;
      if (is_unsigned) start += 128 * tvm_pulp_column_sum(weight + i, words);
      tvm_pulp_finish(&args->requant, y0, place, start + more[0] + (int32_t)sums.of[i], place);
      if (has_second) tvm_pulp_finish(&args->requant, y1, place, start + more[1] + (int32_t)sums.of[2u + i], place);
    }
  }
}

/* Cores share the tiles of two rows by two columns, one row of tiles after the other. */
TVM_PULP_KERNEL(dense) {
  const uint32_t words = args->depth_stride >> 2, across = (args->columns + 1u) >> 1;
  uint32_t *pairs = (uint32_t *)(void *)(args->scratch + core * args->scratch_stride);
  if (args->x_type > TVM_PULP_UINT8 || args->columns < 4u) {
    tvm_pulp_plain_dense(args, core, cores);
    return;
  }
  const struct tvm_pulp_range share = tvm_pulp_share(((args->rows + 1u) >> 1) * across, core, cores);
  uint32_t tile = share.begin, row = tile / across * 2u, column = tile % across;
  while (tile < share.end) {
    const uint32_t left = share.end - tile, count = across - column < left ? across - column : left;
    const uint32_t end = 2u * (column + count) < args->columns ? 2u * (column + count) : args->columns;
    int32_t more[2] = {0, 0};
    for (uint32_t i = 0; i < 2u; i++) {
      const void *x = tvm_pulp_row(args->x, row + i < args->rows ? row + i : row, args->x_stride);
      lay_out(pairs + 2u * words * i, x, args->depth, words, args->x_type == TVM_PULP_UINT8 ? 0u : 0x80808080u);
      if (args->weight_offset != 0) more[i] = args->weight_offset * row_sum(x, args->depth, args->x_type);
    }
    multiply(args, pairs, row, more, 2u * column, end);
    tile += count;
    row += 2u;
    column = 0;
  }
}
