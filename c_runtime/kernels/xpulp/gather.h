/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements that lie `stride` bytes apart, beside each other. */
#ifndef TVM_PULP_GATHER_H
#define TVM_PULP_GATHER_H

#include "four_elements.h"

static inline void tvm_pulp_gather_bytes(const uint8_t *x, uint8_t *y, uint32_t count, uint32_t stride) {
  uint32_t n = count >> 2, v0, v1, v2, v3;
  if (n) {
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(XP_LBUR, "%[s]", "%[x]") FOUR_STORE XP_END
                     : [x] "+r"(x), [y] "+r"(y), FOUR_VALUES
                     : [n] "r"(n), [s] "r"(stride)
                     : "memory");
  }
  for (uint32_t i = 0; i < (count & 3u); ++i, x += stride) y[i] = *x;
}

static inline void tvm_pulp_gather_words(const uint8_t *x, uint8_t *y, uint32_t count, uint32_t stride) {
  uint32_t n = count >> 1, v0, v1;
  if (n) {
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[v0]", "%[s]", "%[x]") XP_LWR("%[v1]", "%[s]", "%[x]")
                         XP_SW("%[v0]", 4, "%[y]") XP_LOOP_END XP_SW("%[v1]", 4, "%[y]") XP_END
                     : [x] "+r"(x), [y] "+r"(y), XP_TWO("=&r", v)
                     : [n] "r"(n), [s] "r"(stride)
                     : "memory");
  }
  if (count & 1u) tvm_pulp_xp_put_word(y, tvm_pulp_xp_word(x));
}

#endif /* TVM_PULP_GATHER_H */
