/* SPDX-License-Identifier: Apache-2.0
 *
 * With at least as many rows as cores, rows are shared; else every row is shared, and its sum made by all who need
 * it. */
#include "row_walk.h"
#include "softmax_row.h"
#include "tvm_pulp/plain/softmax.h"

TVM_PULP_KERNEL(i_softmax) {
  uint32_t columns = args->columns;
  if (((args->levels - 1u) & 1u) == 0u) {
    tvm_pulp_plain_i_softmax(args, core, cores);
    return;
  }
  struct tvm_pulp_row_walk w = tvm_pulp_walk_rows(args->rows, columns, core, cores);
  uint32_t inverse = tvm_pulp_exact_inverse(args->levels - 1u);
  uint32_t *e = (uint32_t *)(void *)(args->scratch + core * args->scratch_stride);
  for (; tvm_pulp_next_piece(&w); tvm_pulp_walk_on(&w)) {
    uint32_t sum = tvm_pulp_exponentials(args->x + w.row * columns, args->x_type, columns, args->table, e);
    struct tvm_pulp_reciprocal r = tvm_pulp_reciprocal_up_to(args->table[255], (sum - columns) * inverse);
    tvm_pulp_normalize(e + w.column, args->y + w.row * columns + w.column, w.count, r);
  }
}
