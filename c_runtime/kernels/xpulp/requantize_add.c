/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of all rows, whose constants stay in registers; where there are few columns, of some rows. Of a single
 * row, all fours of columns of this core in one loop. */
#include "group_share.h"
#include "two_roundings.h"

static void four_columns(const struct tvm_pulp_requantize_add_args *args, uint32_t first, uint32_t row, uint32_t rows) {
  FOUR_COLUMNS(3u);
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "lw %[v1],4(%[x])\nlw %[v2],8(%[x])\nlw %[v3],12(%[x])\nlw %[v0],0(%[x])\n"
                   "add %[x],%[x],%[xs]\n" EACH(FIRST) EACH(CLIP) EACH(MULTIPLY) EACH(SECOND) STORE_BYTES
                   : COLUMN_OUTPUTS
                   : [n] "r"(rows), ROW_STEPS, [m] "r"(args->mul), [r] "r"(args->shift), [f] "r"(FLIP),
                     ROUNDING_CONSTANTS, ROW_CONSTANTS
                   : "memory");
}

/* Few registers, so that the function saves few: summands and shifts are loaded shortly before they are needed. */
#define TAKE(reg, offset) "lw %[" reg "]," offset "(%[t])\n"
#define STAGE(v, add, shift) XP_ADDNR("%[" v "]", "%[" add "]", "%[" shift "]")
static void one_row(const struct tvm_pulp_requantize_add_args *args, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_range share = tvm_pulp_share(args->columns >> 2, core, cores);
  const uint32_t n = share.end - share.begin;
  const int32_t *x = args->x + 4u * core, *stage = args->stages + 12u * core + 8u; /* the last four of a group */
  uint8_t *y = args->y + 4u * core;
  int32_t v0, v1, v2, v3, p0, p1, q0, q1;
  if (n == 0u) return;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "lw %[v1],4(%[x])\n" TAKE("q0", "-12") TAKE("p0", "-28") "lw %[v2],8(%[x])\n"
                   STAGE("v1", "q0", "p0") TAKE("q1", "-8") TAKE("p1", "-24") "lw %[v3],12(%[x])\n"
                   STAGE("v2", "q1", "p1") TAKE("q0", "-4") TAKE("p0", "-20") XP_LWR("%[v0]", "%[xs]", "%[x]")
                   STAGE("v3", "q0", "p0") TAKE("q1", "-16") TAKE("p1", "-32") TAKE("q0", "4") STAGE("v0", "q1", "p1")
                   EACH(CLIP) EACH(MULTIPLY) TAKE("p0", "8") STAGE("v1", "q0", "r") TAKE("q0", "12") STAGE("v2", "p0", "r")
                   XP_LWR("%[p0]", "%[ts]", "%[t]") STAGE("v3", "q0", "r") STAGE("v0", "p0", "r") STORE_BYTES
                   : [x] "+r"(x), [y] "+r"(y), [t] "+r"(stage), FOUR_VALUES, XP_TWO("=&r", p), XP_TWO("=&r", q)
                   : [n] "r"(n), [xs] "r"(16u * cores), [ys] "r"(4u * cores), [ts] "r"(48u * cores), [m] "r"(args->mul),
                     [r] "r"(args->shift), [f] "r"(FLIP)
                   : "memory");
}

/* On its own, so that a single row saves no registers for it. */
static __attribute__((noinline)) void some_rows(const struct tvm_pulp_requantize_add_args *args, uint32_t core,
                                                uint32_t cores) {
  TVM_PULP_EACH_GROUP(four_columns)
}

TVM_PULP_KERNEL(requantize_add) {
  if (args->rows == 1u) {
    one_row(args, core, cores);
  } else {
    some_rows(args, core, cores);
  }
}
