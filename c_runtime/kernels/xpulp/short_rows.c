/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows are copied as words, the last of which reaches back over the one before. */
#include "short_rows.h"

#include "tvm_pulp/xpulp.h"

/* Words at 0, 4, 8 and at the end, `last`. */
#define COPY_LOOP(LOADS, STORES)                                                                            \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWX("%[v0]", "%[last]", "%[x]") LOADS                        \
                   XP_LWR("%[v3]", "%[xs]", "%[x]") XP_SWX("%[v0]", "%[last]", "%[y]") STORES               \
                   XP_LOOP_END XP_SWR("%[v3]", "%[ys]", "%[y]") XP_END                                      \
                   : [x] "+r"(from), [y] "+r"(to), XP_FOUR("=&r", v)                                        \
                   : [n] "r"(count), [last] "r"(bytes - 4u), [xs] "r"(from_step), [ys] "r"(to_step)         \
                   : "memory")

void tvm_pulp_copy_short_rows(const void *from, void *to, uint32_t bytes, uint32_t count, uint32_t from_step,
                              uint32_t to_step) {
  int32_t v0, v1, v2, v3;
  if (bytes <= 8u) {
    COPY_LOOP("", "");
  } else if (bytes <= 12u) {
    COPY_LOOP("lw %[v1],4(%[x])\n", "sw %[v1],4(%[y])\n");
  } else {
    COPY_LOOP("lw %[v1],4(%[x])\nlw %[v2],8(%[x])\n", "sw %[v1],4(%[y])\nsw %[v2],8(%[y])\n");
  }
}
