/* SPDX-License-Identifier: Apache-2.0
 *
 * With at least as many rows as cores, rows are shared; else every row is shared, and its sum made by all who need
 * it. */
#include "softmax_row.h"
#include "tvm_pulp/plain/softmax.h"
#include "tvm_pulp/work_share.h"

TVM_PULP_KERNEL(i_softmax) {
  uint32_t columns = args->columns, whole = args->rows >= cores;
  if (((args->levels - 1u) & 1u) == 0u) {
    tvm_pulp_plain_i_softmax(args, core, cores);
    return;
  }
  struct tvm_pulp_range range =
      whole ? tvm_pulp_share(args->rows, core, cores) : tvm_pulp_share_words(args->rows * columns, core, cores);
  uint32_t left = range.end - range.begin, row = range.begin, column = 0;
  if (!whole) {
    row = range.begin / columns;
    column = range.begin - row * columns;
  }
  uint32_t inverse = tvm_pulp_exact_inverse(args->levels - 1u);
  uint32_t *e = (uint32_t *)(void *)(args->scratch + core * args->scratch_stride);
  for (; left > 0u; ++row, column = 0) {
    uint32_t count = whole || columns - column < left ? columns - column : left;
    uint32_t sum = tvm_pulp_exponentials(args->x + row * columns, args->x_type, columns, args->table, e);
    struct tvm_pulp_reciprocal r = tvm_pulp_reciprocal_up_to(args->table[255], (sum - columns) * inverse);
    tvm_pulp_normalize(e + column, args->y + row * columns + column, count, r);
    left -= whole ? 1u : count;
  }
}
