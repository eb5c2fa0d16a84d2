/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop over 32-bit numbers of four channels that become bytes by an addition, a shift and a clip. It uses p, r, rows, x,
 * y, add, shift and mul of the function around it. */
#ifndef TVM_PULP_SHIFT_LOOP_H
#define TVM_PULP_SHIFT_LOOP_H

#include "four_elements.h"

/* Four channels of some rows, whose summands and shifts, and multipliers where there are any, stay in registers. */
#define HIGH_WORDS \
  "mulh %[v1],%[v1],%[m1]\nmulh %[v2],%[v2],%[m2]\nmulh %[v3],%[v3],%[m3]\nmulh %[v0],%[v0],%[m0]\n"
#define MULTIPLIERS , [m0] "r"(mul[0]), [m1] "r"(mul[1]), [m2] "r"(mul[2]), [m3] "r"(mul[3])
/* Further operands come last. */
#define SHIFT_LOOP(CLIP, PRODUCTS, ...) SHIFT_LOOP_BY(CLIP, PRODUCTS, , __VA_ARGS__)
#define SHIFT_LOOP_BY(CLIP, PRODUCTS, OUTPUTS, ...)                                                                    \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "lw %[v1],4(%[x])\nlw %[v2],8(%[x])\nlw %[v3],12(%[x])\n"      \
                   XP_LWR("%[v0]", "%[xs]", "%[x]") PRODUCTS XP_ADDNR("%[v1]", "%[a1]", "%[s1]")           \
                   XP_ADDNR("%[v2]", "%[a2]", "%[s2]") XP_ADDNR("%[v3]", "%[a3]", "%[s3]")                 \
                   XP_ADDNR("%[v0]", "%[a0]", "%[s0]") FOUR(CLIP, "%[h]")                                  \
                   FOUR_PACK XP_LOOP_END XP_SWR("%[v0]", "%[ys]", "%[y]") XP_END                           \
                   : [x] "+r"(x), [y] "+r"(y), FOUR_VALUES OUTPUTS                                                    \
                   : [n] "r"(rows), [xs] "r"(p->x_stride), [ys] "r"(p->y_stride), [h] "r"(r->high), [a0] "r"(add[0]), \
                     [a1] "r"(add[1]), [a2] "r"(add[2]), [a3] "r"(add[3]), [s0] "r"(shift[0]), [s1] "r"(shift[1]), \
                     [s2] "r"(shift[2]), [s3] "r"(shift[3]) __VA_ARGS__                                    \
                   : "memory")

#endif /* TVM_PULP_SHIFT_LOOP_H */
