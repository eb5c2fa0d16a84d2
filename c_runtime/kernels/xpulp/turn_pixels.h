/* SPDX-License-Identifier: Apache-2.0
 *
 * From pixels with their channels beside each other to one plane per channel. */
#ifndef TVM_PULP_TURN_PIXELS_H
#define TVM_PULP_TURN_PIXELS_H

#include <stdint.h>

#include "tvm_pulp/xpulp.h"

/* Four channels of the next four pixels, `s` bytes apart at x, as words of a channel each: w1, u0, w3, w0. */
#define TVM_PULP_TURN_FOUR                                                                                          \
  XP_LWR("%[w0]", "%[s]", "%[x]") XP_LWR("%[w1]", "%[s]", "%[x]") XP_LWR("%[w2]", "%[s]", "%[x]")                   \
  XP_LWR("%[w3]", "%[s]", "%[x]") "addi %[u0],%[w0],0\naddi %[u1],%[w2],0\n"                                        \
  XP_SHUFFLE2_B("%[u0]", "%[w1]", "%[lo]") XP_SHUFFLE2_B("%[w0]", "%[w1]", "%[hi]")                                 \
  XP_SHUFFLE2_B("%[u1]", "%[w3]", "%[lo]") XP_SHUFFLE2_B("%[w2]", "%[w3]", "%[hi]")                                 \
  XP_PACK_H("%[w1]", "%[u1]", "%[u0]") XP_SHUFFLE2_H("%[u0]", "%[u1]", "%[up]")                                     \
  XP_PACK_H("%[w3]", "%[w2]", "%[w0]") XP_SHUFFLE2_H("%[w0]", "%[w2]", "%[up]")
#define TVM_PULP_TURN_SELECTORS [lo] "r"(0x05010400), [hi] "r"(0x07030602), [up] "r"(0x00030001)

/* Four channels of pixels `step` bytes apart into four planes `stride` bytes apart. */
static inline void tvm_pulp_turn_pixels(uint8_t *target, uint32_t stride, const int8_t *x, uint32_t step,
                                        uint32_t pixels) {
  uint32_t n = pixels >> 2;
  uint8_t *t0 = target, *t1 = t0 + stride, *t2 = t1 + stride, *t3 = t2 + stride;
  int32_t w0, w1, w2, w3, u0, u1;
  if (n) {
    __asm__ volatile(
        XP_BEGIN XP_LOOP("%[n]") TVM_PULP_TURN_FOUR
            XP_SW("%[w1]", 4, "%[t0]") XP_SW("%[u0]", 4, "%[t1]") XP_SW("%[w3]", 4, "%[t2]")
            XP_LOOP_END XP_SW("%[w0]", 4, "%[t3]") XP_END
        : XP_FOUR("+r", t), [x] "+r"(x), XP_FOUR("=&r", w), XP_TWO("=&r", u)
        : [n] "r"(n), [s] "r"(step), TVM_PULP_TURN_SELECTORS
        : "memory");
  }
  for (n = pixels & 3u; n > 0u; --n, x += step) {
    *t0++ = (uint8_t)x[0];
    *t1++ = (uint8_t)x[1];
    *t2++ = (uint8_t)x[2];
    *t3++ = (uint8_t)x[3];
  }
}

#endif /* TVM_PULP_TURN_PIXELS_H */
