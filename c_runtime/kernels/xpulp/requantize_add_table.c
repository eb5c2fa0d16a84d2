/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of all rows, whose constants stay in registers; where there are few columns, of some rows. */
#include "group_share.h"
#include "two_roundings.h"

#define TAKE(i) XP_LBUX("%[v" i "]", "%[v" i "]", "%[t]")

static void four_columns(const struct tvm_pulp_requantize_add_table_args *args, uint32_t first, uint32_t row,
                         uint32_t rows) {
  const uint32_t columns = args->columns, at = row * columns + first;
  const int32_t *x = args->x + at, *stage = args->stages + 3u * first;
  uint8_t *y = args->y + at;
  int32_t v0, v1, v2, v3;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") TWO_ROUNDINGS EACH(TAKE) FOUR_PACK XP_LOOP_END XP_SWR("%[v0]", "%[ys]", "%[y]") XP_END
                   : [x] "+r"(x), [y] "+r"(y), FOUR_VALUES
                   : [n] "r"(rows), [xs] "r"(4u * columns), [ys] "r"(columns), [t] "r"(args->table + 128),
                     TWO_ROUNDINGS_CONSTANTS
                   : "memory");
}

TVM_PULP_KERNEL(requantize_add_table) { TVM_PULP_EACH_GROUP(four_columns) }
