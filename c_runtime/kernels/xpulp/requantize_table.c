/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of all rows, whose constants and tables stay in registers; where there are few columns, of some rows. */
#include "group_share.h"
#include "two_roundings.h"

#define CLIP_UNSIGNED(i) XP_CLIPUR(VALUE(i), VALUE(i), "%[h]")
#define TAKE(i) XP_LBUX(VALUE(i), VALUE(i), "%[t" #i "]")

static void four_columns(const struct tvm_pulp_requantize_table_args *args, uint32_t first, uint32_t row,
                         uint32_t rows) {
  FOUR_COLUMNS(2u);
  const uint32_t stride = args->table_stride;
  const uint8_t *t0 = args->table + first * stride, *t1 = t0 + stride, *t2 = t1 + stride, *t3 = t2 + stride;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") COLUMNS EACH(FIRST) EACH(CLIP_UNSIGNED) EACH(TAKE) STORE_ROW
                   : COLUMN_OUTPUTS
                   : [n] "r"(rows), ROW_STEPS, [h] "r"(255), XP_FOUR("r", t), ROUNDING_CONSTANTS
                   : "memory");
}

TVM_PULP_KERNEL(requantize_table) { TVM_PULP_EACH_GROUP(four_columns) }
