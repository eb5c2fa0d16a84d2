/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of all rows, whose constants stay in registers; where there are few columns, of some rows. */
#include "group_share.h"
#include "two_roundings.h"

#define TAKE(i) XP_LBUX(VALUE(i), VALUE(i), "%[t]")

static void four_columns(const struct tvm_pulp_requantize_add_table_args *args, uint32_t first, uint32_t row,
                         uint32_t rows) {
  FOUR_COLUMNS(3u);
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") TWO_ROUNDINGS EACH(TAKE) STORE_ROW
                   : COLUMN_OUTPUTS
                   : [n] "r"(rows), ROW_STEPS, [t] "r"(args->table + 128), TWO_ROUNDINGS_CONSTANTS
                   : "memory");
}

TVM_PULP_KERNEL(requantize_add_table) { TVM_PULP_EACH_GROUP(four_columns) }
