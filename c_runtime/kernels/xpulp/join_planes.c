/* SPDX-License-Identifier: Apache-2.0
 *
 * Four pixels are three words on both sides. Every core takes every so manieth four, so that neighbours are in
 * different banks. */
#include "tvm_pulp/plain/movement.h"
#include "tvm_pulp/xpulp.h"

TVM_PULP_KERNEL(join_planes) {
  const uint32_t fours = args->pixels >> 2, step = 4u * cores, far = 12u * cores - 8u;
  const uint8_t *x0 = args->x + 4u * core, *x1 = x0 + args->plane_stride, *x2 = x1 + args->plane_stride;
  uint8_t *y = args->y + 12u * core;
  uint32_t n = core < fours ? (fours - core + cores - 1u) / cores : 0u, a, b, c, first, second;
  if (n) {
    __asm__ volatile(
        XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[a]", "%[s]", "%[x0]") XP_LWR("%[b]", "%[s]", "%[x1]")
            XP_LWR("%[c]", "%[s]", "%[x2]") "addi %[v],%[a],0\naddi %[w],%[b],0\n"
        XP_SHUFFLE2_B("%[v]", "%[b]", "%[vb]") XP_SHUFFLE2_B("%[v]", "%[c]", "%[vc]")
            XP_SHUFFLE2_B("%[w]", "%[a]", "%[wa]") XP_SHUFFLE2_B("%[w]", "%[c]", "%[wc]")
        XP_SHUFFLE2_B("%[c]", "%[a]", "%[ca]") XP_SHUFFLE2_B("%[c]", "%[b]", "%[cb]")
            XP_SW("%[v]", 4, "%[y]") XP_SW("%[w]", 4, "%[y]") XP_LOOP_END XP_SWR("%[c]", "%[f]", "%[y]") XP_END
        : [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [y] "+r"(y), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c),
          [v] "=&r"(first), [w] "=&r"(second)
        : [n] "r"(n), [s] "r"(step), [f] "r"(far), [vb] "r"(0x01000400), [vc] "r"(0x03040100), [wa] "r"(0x02060001),
          [wc] "r"(0x03020500), [ca] "r"(0x03000702), [cb] "r"(0x03070100)
        : "memory");
  }
  if (core == cores - 1u) tvm_pulp_plain_join_pixels(args, fours << 2, args->pixels);
}
