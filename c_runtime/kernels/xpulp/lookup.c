/* SPDX-License-Identifier: Apache-2.0 */
#include "four_elements.h"

TVM_PULP_KERNEL(lookup) {
  struct tvm_pulp_range range = tvm_pulp_share_words(args->count, core, cores);
  const uint8_t *x = args->x + range.begin;
  uint8_t *y = args->y + range.begin;
  uint32_t count = range.end - range.begin, n = count >> 2;
  FOUR_LOCALS;
  if (n) {
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(XP_LBU, 1, "%[x]") XP_LBUX("%[v0]", "%[v0]", "%[t]")
                         XP_LBUX("%[v1]", "%[v1]", "%[t]") XP_LBUX("%[v2]", "%[v2]", "%[t]")
                             XP_LBUX("%[v3]", "%[v3]", "%[t]") FOUR_STORE XP_END
                     : FOUR_OUTPUTS, [x] "+r"(x)
                     : [n] "r"(n), [t] "r"(args->table)
                     : "memory");
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = args->table[x[i]];
}
