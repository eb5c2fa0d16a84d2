/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of all rows, whose constants stay in registers; where there are few columns, of some rows. */
#include "group_share.h"
#include "two_roundings.h"

#define SUM(i) XP_ADDNR(VALUE(i), "%[c]", "%[r]")
/* Bytes of the other operand two by two, so that registers suffice; `b` is at the last of four. */
#define LOOP(LOAD, LOAD_ON)                                                                                       \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") COLUMNS LOAD " %[w0],-3(%[b])\n" LOAD " %[w1],-2(%[b])\n" EACH(FIRST) \
                   EACH(CLIP) EACH(MULTIPLY) XP_MAC("%[v0]", "%[w0]", "%[o]") XP_MAC("%[v1]", "%[w1]", "%[o]")    \
                   LOAD " %[w0],-1(%[b])\n" LOAD_ON("%[w1]", "%[ys]", "%[b]") SUM(0) SUM(1)                       \
                   XP_MAC("%[v2]", "%[w0]", "%[o]") XP_MAC("%[v3]", "%[w1]", "%[o]") SUM(2) SUM(3)                \
                   STORE_BYTES                                                                                    \
                   : COLUMN_OUTPUTS, [b] "+r"(b), XP_TWO("=&r", w)                                                \
                   : [n] "r"(rows), ROW_STEPS, [m] "r"(args->mul), [o] "r"(args->mul_b), [c] "r"(args->add),      \
                     [r] "r"(args->shift), [f] "r"(flip), ROUNDING_CONSTANTS                                      \
                   : "memory")

static void four_columns(const struct tvm_pulp_requantize_sum_args *args, uint32_t first, uint32_t row, uint32_t rows) {
  FOUR_COLUMNS(2u);
  const uint8_t *b = args->b + at + 3u;
  const int32_t flip = FLIP;
  int32_t w0, w1;
  XP_BY_SIGN(args->b_type, LOOP("lb", XP_LBR), LOOP("lbu", XP_LBUR));
}

TVM_PULP_KERNEL(requantize_sum) { TVM_PULP_EACH_GROUP(four_columns) }
