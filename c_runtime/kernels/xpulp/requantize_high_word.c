/* SPDX-License-Identifier: Apache-2.0 */
#include "requantize_block.h"
#include "scaled.h"
#include "tvm_pulp/xpulp.h"

/* Two accumulators a turn: what is loaded or multiplied is late by a cycle. */
#define TWICE(TEXT) TEXT("%[v0]") TEXT("%[v1]")
#define LIMIT(v) XP_CLIPR(v, v, "%[most]")
#define LEFT(v) "sll " v "," v ",%[left]\n"
#define SCALE(v) "mulhsu " v "," v ",%[m]\n"
#define FINISH(v) XP_ADDNR(v, "%[a]", "%[right]") XP_CLIPR(v, v, "%[h]")
#define MOVE(v) "add " v "," v ",%[mid]\n"

void tvm_pulp_requantize_high_word_channels(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count,
                                            uint32_t channels, uint8_t *to, uint32_t step, uint32_t first) {
  const struct tvm_pulp_scaled s = tvm_pulp_high_word_of(requant);
  const struct tvm_pulp_high_word *c = (const struct tvm_pulp_high_word *)(const void *)requant->mul + first;
  int32_t v0, v1;
  for (const struct tvm_pulp_high_word *end = c + channels; c < end; ++c, ++to) {
    uint8_t *y = to;
    /* An odd one at the end takes the one before it along again. */
    for (uint32_t n = count >> 1, is_left = count & 1u;; n = 1u, is_left = 0u, --acc, y -= step) {
      __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[v0]", 4, "%[acc]") XP_LW("%[v1]", 4, "%[acc]") TWICE(LIMIT)
                           TWICE(LEFT) TWICE(SCALE) TWICE(FINISH) TWICE(MOVE) XP_SBR("%[v0]", "%[ys]", "%[y]")
                               XP_LOOP_END XP_SBR("%[v1]", "%[ys]", "%[y]") XP_END
                       : [acc] "+r"(acc), [y] "+r"(y), XP_TWO("=&r", v)
                       : [n] "r"(n), [ys] "r"(step), [most] "r"(s.offset), [left] "r"(s.factor), [m] "r"(c->mul),
                         [a] "r"(c->add), [right] "r"(c->right), [h] "r"(s.high), [mid] "r"(s.middle)
                       : "memory");
      if (!is_left) break;
    }
  }
}
