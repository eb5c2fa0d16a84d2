/* SPDX-License-Identifier: Apache-2.0
 *
 * This core's part of rows without gaps: whole rows where there are enough, else pieces of them. */
#ifndef TVM_PULP_ROW_WALK_H
#define TVM_PULP_ROW_WALK_H

#include "tvm_pulp/work_share.h"

struct tvm_pulp_row_walk {
  uint32_t row, column, count, left, columns, whole;
};

TVM_PULP_INLINE uint32_t tvm_pulp_next_piece(struct tvm_pulp_row_walk *w) {
  if (w->left == 0u) return 0;
  w->count = w->whole || w->columns - w->column < w->left ? w->columns - w->column : w->left;
  w->left -= w->whole ? 1u : w->count;
  return 1;
}

TVM_PULP_INLINE void tvm_pulp_walk_on(struct tvm_pulp_row_walk *w) {
  ++w->row;
  w->column = 0;
}

TVM_PULP_INLINE struct tvm_pulp_row_walk tvm_pulp_walk_pieces(uint32_t rows, uint32_t columns, uint32_t core,
                                                              uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share_words(rows * columns, core, cores);
  uint32_t row = rows == 1u ? 0u : range.begin / columns;
  return (struct tvm_pulp_row_walk){row, range.begin - row * columns, 0, range.end - range.begin, columns, 0};
}

TVM_PULP_INLINE struct tvm_pulp_row_walk tvm_pulp_walk_rows(uint32_t rows, uint32_t columns, uint32_t core,
                                                            uint32_t cores) {
  if (rows < cores) return tvm_pulp_walk_pieces(rows, columns, core, cores);
  struct tvm_pulp_range range = tvm_pulp_share(rows, core, cores);
  return (struct tvm_pulp_row_walk){range.begin, 0, 0, range.end - range.begin, columns, 1};
}

#endif /* TVM_PULP_ROW_WALK_H */
