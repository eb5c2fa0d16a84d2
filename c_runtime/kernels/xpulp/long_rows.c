/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows are copied sixteen bytes at a time, the last of which reach back over those before. */
#include "short_rows.h"
#include "tvm_pulp/xpulp.h"

#define LOADS(p) "lw %[v0],0(" p ")\nlw %[v1],4(" p ")\nlw %[v2],8(" p ")\nlw %[v3],12(" p ")\n"
#define STORES(p) "sw %[v0],0(" p ")\nsw %[v1],4(" p ")\nsw %[v2],8(" p ")\nsw %[v3],12(" p ")\n"

void tvm_pulp_copy_long_rows(const void *from, void *to, uint32_t bytes, uint32_t count, uint32_t from_step,
                             uint32_t to_step) {
  uint32_t pieces = (bytes - 1u) >> 4, last = bytes - 16u - (pieces << 4);
  int32_t v0, v1, v2, v3;
  from_step -= bytes - 16u;
  to_step -= bytes - 16u;
  __asm__ volatile(XP_BEGIN XP_OUTER_LOOP("%[n]") XP_LOOP("%[pieces]") XP_LW("%[v0]", 4, "%[x]") XP_LW("%[v1]", 4, "%[x]")
                   XP_LW("%[v2]", 4, "%[x]") XP_LW("%[v3]", 4, "%[x]") XP_SW("%[v0]", 4, "%[y]")
                   XP_SW("%[v1]", 4, "%[y]") XP_SW("%[v2]", 4, "%[y]") XP_LOOP_END XP_SW("%[v3]", 4, "%[y]")
                   "add %[x],%[x],%[last]\nadd %[y],%[y],%[last]\n" LOADS("%[x]") STORES("%[y]")
                   "add %[x],%[x],%[xs]\n" XP_OUTER_LOOP_END "add %[y],%[y],%[ys]\n" XP_END
                   : [x] "+r"(from), [y] "+r"(to), XP_FOUR("=&r", v)
                   : [n] "r"(count), [pieces] "r"(pieces), [last] "r"(last), [xs] "r"(from_step), [ys] "r"(to_step)
                   : "memory");
}
