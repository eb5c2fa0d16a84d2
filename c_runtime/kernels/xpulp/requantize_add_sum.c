/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of all rows, whose constants stay in registers; where there are few columns, of some rows. */
#include "group_share.h"
#include "two_roundings.h"

#define THIRD(i) XP_ADDNR("%[v" i "]", "%[d]", "%[q]")
#define CLIP_UNSIGNED(i) XP_CLIPU8("%[v" i "]", "%[v" i "]")
#define ADD(i, LOAD) LOAD "mul %[v" i "],%[v" i "],%[k]\n" XP_MAC("%[v" i "]", "%[w]", "%[o]")
/* All registers are in use: the first value holds the number of rows before the loop begins. `b` is at the last of four. */
#define LOOP(LOAD, LOAD_ON, LAST_CLIP)                                                                               \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[v0]") TWO_ROUNDINGS ADD("1", LOAD " %[w],-2(%[b])\n")                          \
                   ADD("2", LOAD " %[w],-1(%[b])\n") ADD("0", LOAD " %[w],-3(%[b])\n")                               \
                   ADD("3", LOAD_ON("%[w]", "%[ys]", "%[b]")) EACH(THIRD) EACH(LAST_CLIP) STORE_ROW                  \
                   : [x] "+&r"(x), [y] "+&r"(y), [b] "+&r"(b), [v0] "+&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2),       \
                     [v3] "=&r"(v3), [w] "=&r"(w)                                                                    \
                   : ROW_STEPS, [k] "r"(args->mul_a), [o] "r"(args->mul_b), [d] "r"(args->add),                      \
                     [q] "r"(args->shift_sum), TWO_ROUNDINGS_CONSTANTS                                               \
                   : "memory")

static void four_columns(const struct tvm_pulp_requantize_add_sum_args *args, uint32_t first, uint32_t row, uint32_t rows) {
  FOUR_COLUMNS(3u);
  const uint8_t *b = args->b + at + 3u;
  int32_t w;
  v0 = (int32_t)rows;
  XP_BY_SIGN(args->type, LOOP("lb", XP_LBR, CLIP), LOOP("lbu", XP_LBUR, CLIP_UNSIGNED));
}

TVM_PULP_KERNEL(requantize_add_sum) { TVM_PULP_EACH_GROUP(four_columns) }
