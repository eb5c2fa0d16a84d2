/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of rows that lie anywhere in memory: of a few bytes, and of more. */
#ifndef TVM_PULP_SHORT_ROWS_H
#define TVM_PULP_SHORT_ROWS_H

#include <stdint.h>

enum { TVM_PULP_SHORTEST_ROW = 4, TVM_PULP_LONGEST_SHORT_ROW = 16 };

/* `count` rows, at least one, of four to sixteen bytes, `from_step` and `to_step` bytes apart, anywhere in memory;
 * reads and writes no other byte. */
void tvm_pulp_copy_short_rows(const void *from, void *to, uint32_t bytes, uint32_t count, uint32_t from_step,
                              uint32_t to_step);

/* The same for rows of more than sixteen bytes. */
void tvm_pulp_copy_long_rows(const void *from, void *to, uint32_t bytes, uint32_t count, uint32_t from_step,
                             uint32_t to_step);

#endif /* TVM_PULP_SHORT_ROWS_H */
