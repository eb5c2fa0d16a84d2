/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop over 32-bit numbers of four channels that become bytes by an addition, a shift and a clip. It uses p, r,
 * rows, x, y, add, shift and mul of the function around it. */
#ifndef TVM_PULP_SHIFT_LOOP_H
#define TVM_PULP_SHIFT_LOOP_H

#include "two_roundings.h"

/* Four channels of some rows, whose summands and shifts, and multipliers where there are any, stay in registers. */
#define HIGH_WORD(i) "mulh " VALUE(i) "," VALUE(i) ",%[m" #i "]\n"
#define HIGH_WORDS EACH(HIGH_WORD)
#define MULTIPLIERS , XP_FOUR_OF("r", m, mul)
/* Further operands come last. */
#define SHIFT_LOOP(CLIP, PRODUCTS, ...) SHIFT_LOOP_BY(CLIP, PRODUCTS, , __VA_ARGS__)
#define SHIFT_LOOP_BY(CLIP, PRODUCTS, OUTPUTS, ...)                                                   \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") COLUMNS PRODUCTS EACH(FIRST) FOUR(CLIP, "%[h]") STORE_ROW \
                   : COLUMN_OUTPUTS OUTPUTS                                                           \
                   : [n] "r"(rows), [xs] "r"(p->x_stride), [ys] "r"(p->y_stride), [h] "r"(r->high),   \
                     XP_FOUR_OF("r", a, add), XP_FOUR_OF("r", s, shift) __VA_ARGS__                   \
                   : "memory")

#endif /* TVM_PULP_SHIFT_LOOP_H */
