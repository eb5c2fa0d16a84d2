/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes through a table, four at a time. */
#ifndef TVM_PULP_XPULP_TRANSLATE_H
#define TVM_PULP_XPULP_TRANSLATE_H

#include "tvm_pulp/xpulp.h"

/* A whole number of words, at least one. */
static void tvm_pulp_translate(const uint8_t *x, const uint8_t *table, uint8_t *y, uint32_t words) {
  uint32_t v0, v1, v2, v3;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LBU("%[v0]", 1, "%[x]") XP_LBU("%[v1]", 1, "%[x]")
                       XP_LBU("%[v2]", 1, "%[x]") XP_LBU("%[v3]", 1, "%[x]") XP_LBUX("%[v0]", "%[v0]", "%[t]")
                           XP_LBUX("%[v1]", "%[v1]", "%[t]") XP_LBUX("%[v2]", "%[v2]", "%[t]")
                               XP_LBUX("%[v3]", "%[v3]", "%[t]") XP_PACKLO("%[v0]", "%[v1]", "%[v0]")
                                   XP_PACKHI("%[v0]", "%[v3]", "%[v2]") XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END
                   : [x] "+r"(x), [y] "+r"(y), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2), [v3] "=&r"(v3)
                   : [n] "r"(words), [t] "r"(table)
                   : "memory");
}

#endif /* TVM_PULP_XPULP_TRANSLATE_H */
