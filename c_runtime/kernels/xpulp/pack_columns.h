/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of a [depth][columns] byte matrix in the packed layout of kernels.h: blocks of 4 x 4 bytes are
 * turned. */
#ifndef TVM_PULP_PACK_COLUMNS_H
#define TVM_PULP_PACK_COLUMNS_H

#include <stdint.h>

#include "tvm_pulp/xpulp.h"

/* `from`: first of the columns in row 0. `flip` is applied to every word of input. Zeros follow up to a whole word. */
static inline void tvm_pulp_pack_columns(int32_t *packed, const int8_t *from, uint32_t depth, uint32_t stride,
                                         int32_t flip) {
  uint32_t n = depth >> 2, rest = depth & 3u;
  int32_t w0, w1, w2, w3, t;
  if (n) {
    __asm__ volatile(
        XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[w0]", "%[s]", "%[x]") XP_LWR("%[w1]", "%[s]", "%[x]")
            XP_LWR("%[w2]", "%[s]", "%[x]") XP_LWR("%[w3]", "%[s]", "%[x]") "mv %[t],%[w0]\n"
        XP_SHUFFLE2_B("%[t]", "%[w1]", "%[high]") XP_SHUFFLE2_B("%[w0]", "%[w1]", "%[low]") "mv %[w1],%[w2]\n"
        XP_SHUFFLE2_B("%[w1]", "%[w3]", "%[high]") XP_SHUFFLE2_B("%[w2]", "%[w3]", "%[low]")
            XP_PACK_H("%[w3]", "%[w2]", "%[w0]") XP_SHUFFLE2_H("%[w0]", "%[w2]", "%[upper]")
                XP_PACK_H("%[w2]", "%[w1]", "%[t]") XP_SHUFFLE2_H("%[t]", "%[w1]", "%[upper]")
        "xor %[w3],%[w3],%[f]\nxor %[w0],%[w0],%[f]\nxor %[w2],%[w2],%[f]\nxor %[t],%[t],%[f]\n"
        XP_SW("%[w3]", 4, "%[y]") XP_SW("%[w0]", 4, "%[y]") XP_SW("%[w2]", 4, "%[y]") XP_LOOP_END
            XP_SW("%[t]", 4, "%[y]") XP_END
        : [x] "+r"(from), [y] "+r"(packed), XP_FOUR("=&r", w), [t] "=&r"(t)
        : [n] "r"(n), [s] "r"(stride), [f] "r"(flip), [low] "r"(0x05010400), [high] "r"(0x07030602),
          [upper] "r"(0x00030001)
        : "memory");
  }
  if (rest) {
    int32_t w[4] = {0, 0, 0, 0};
    for (uint32_t j = 0; j < rest; ++j, from += stride) w[j] = tvm_pulp_xp_word(from) ^ flip;
    tvm_pulp_xp_transpose4(w);
    for (uint32_t j = 0; j < 4u; ++j) packed[j] = w[j];
  }
}

#endif /* TVM_PULP_PACK_COLUMNS_H */
