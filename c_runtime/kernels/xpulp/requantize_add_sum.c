/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of all rows, whose constants stay in registers; where there are few columns, of some rows. */
#include "group_share.h"

#define VALUE(i) VALUE_##i
#define VALUE_0 "%[v0]"
#define VALUE_1 XP_SCRATCH(v1, "a3")
#define VALUE_2 "%[v2]"
#define VALUE_3 "%[v3]"
#define BYTE XP_SCRATCH(w, "a4")
#include "two_roundings.h"

#define THIRD(i) XP_ADDNR(VALUE(i), "%[d]", "%[q]")
#define CLIP_UNSIGNED(i) XP_CLIPU8(VALUE(i), VALUE(i))
#define ADD(i, LOAD) LOAD "mul " VALUE(i) "," VALUE(i) ",%[k]\n" XP_MAC(VALUE(i), BYTE, "%[o]")
/* All registers are in use: the first value holds the number of rows before the loop begins. `b` is at the last of four. */
#define LOOP(LOAD, LOAD_ON, LAST_CLIP)                                                                             \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[v0]") TWO_ROUNDINGS ADD(1, LOAD " " BYTE ",-2(%[b])\n")                     \
                   ADD(2, LOAD " " BYTE ",-1(%[b])\n") ADD(0, LOAD " " BYTE ",-3(%[b])\n")                         \
                   ADD(3, LOAD_ON(BYTE, "%[ys]", "%[b]")) EACH(THIRD) EACH(LAST_CLIP) STORE_ROW                    \
                   : [x] "+&r"(x), [y] "+&r"(y), [b] "+&r"(b), [v0] "+&r"(v0) XP_SCRATCH_OPERANDS([v1] "=&r"(v1)), \
                     [v2] "=&r"(v2), [v3] "=&r"(v3) XP_SCRATCH_OPERANDS([w] "=&r"(w))                              \
                   : ROW_STEPS, [k] "r"(args->mul_a), [o] "r"(args->mul_b), [d] "r"(args->add),                    \
                     [q] "r"(args->shift_sum), TWO_ROUNDINGS_CONSTANTS                                             \
                   : "memory" XP_SCRATCH_REGISTERS(VALUE_1, BYTE))

static void four_columns(const struct tvm_pulp_requantize_add_sum_args *args, uint32_t first, uint32_t row, uint32_t rows) {
  FOUR_COLUMNS(3u);
  const uint8_t *b = args->b + at + 3u;
  XP_SCRATCH_VALUE w;
  v0 = (int32_t)rows;
  (void)v1;
  XP_BY_SIGN(args->type, LOOP("lb", XP_LBR, CLIP), LOOP("lbu", XP_LBUR, CLIP_UNSIGNED));
}

TVM_PULP_KERNEL(requantize_add_sum) { TVM_PULP_EACH_GROUP(four_columns) }
