/* SPDX-License-Identifier: Apache-2.0 */
#include "requantize_block.h"
#include "scaled.h"
#include "tvm_pulp/elements.h"
#include "tvm_pulp/xpulp.h"

/* Two accumulators a turn: what is loaded or multiplied is late by a cycle. An odd one at the end takes the one before
 * it along again. `mid` is the middle of the range that is clipped. */
#define LOOP(SCALE, CLIP, MIDDLE)                                                                               \
  for (uint32_t n = count >> 1, is_left = count & 1u;; n = 1u, is_left = 0u, --acc, y -= step) {                \
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[v0]", 4, "%[acc]") XP_LW("%[v1]", 4, "%[acc]") SCALE     \
                         XP_ADDNR("%[v0]", "%[a]", "%[sh]") XP_ADDNR("%[v1]", "%[a]", "%[sh]")                  \
                         CLIP("%[v0]", "%[v0]", "%[h]") CLIP("%[v1]", "%[v1]", "%[h]") MIDDLE                   \
                         XP_SBR("%[v0]", "%[ys]", "%[y]") XP_LOOP_END XP_SBR("%[v1]", "%[ys]", "%[y]") XP_END   \
                     : [acc] "+r"(acc), [y] "+r"(y), XP_TWO("=&r", v), XP_TWO("=&r", w)                         \
                     : [n] "r"(n), [m] "r"(c.factor), [ys] "r"(step), [a] "r"(c.add), [sh] "r"(c.shift),        \
                       [h] "r"(high), [nudge] "r"(2), [mid] "r"(middle)                                         \
                     : "memory");                                                                               \
    if (!is_left) break;                                                                                        \
  }
#define NARROW "mul %[v0],%[v0],%[m]\nmul %[v1],%[v1],%[m]\n"
#define ONCE "mulhsu %[v0],%[v0],%[m]\nmulhsu %[v1],%[v1],%[m]\n"
#define TWICE                                                                                   \
  "slli %[v0],%[v0],1\nslli %[v1],%[v1],1\n" ONCE "srai %[w0],%[v0],31\nsrai %[w1],%[v1],31\n" \
  XP_MAC("%[v0]", "%[w0]", "%[nudge]") XP_MAC("%[v1]", "%[w1]", "%[nudge]")
#define MOVE "add %[v0],%[v0],%[mid]\nadd %[v1],%[v1],%[mid]\n"

void tvm_pulp_requantize_channels(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count,
                                  uint32_t channels, uint8_t *to, uint32_t step, uint32_t first) {
  uint32_t is_narrow = requant->kind == TVM_PULP_REQUANT_PULP_NARROW && !requant->wide_result &&
                       (requant->low == 0 || requant->low == ~requant->high);
  uint32_t bytes = tvm_pulp_result_bytes(requant), middle = 0;
  int32_t v0, v1, w0, w1, high = requant->high;
  struct tvm_pulp_scaled s = {0};
  if (count < 2u || (!is_narrow && !tvm_pulp_is_scaled(requant))) {
    /* <float biases> */
    if (count >= 2u && tvm_pulp_is_high_word(requant)) {
      tvm_pulp_requantize_high_word_channels(requant, acc, count, channels, to, step, first);
      return;
    }
    /* </float biases> */
    for (uint32_t end = first + channels; first < end; ++first, acc += count) {
      tvm_pulp_requantize_columns(requant, acc, 1, count, 1, 1, to - first * bytes, step, first);
      to += bytes;
    }
    return;
  }
  if (!is_narrow) {
    s = tvm_pulp_scaled_of(requant);
    high = s.high;
    middle = s.middle;
  }
  for (uint32_t end = first + channels; first < end; ++first, ++to) {
    uint8_t *y = to;
    if (is_narrow) {
      uint32_t at = requant->per_channel ? first : 0u;
      struct tvm_pulp_scaled_channel c = {(uint32_t)requant->mul[at], requant->add[at], requant->shift};
      if (requant->low == 0) {
        LOOP(NARROW, XP_CLIPUR, "")
      } else {
        LOOP(NARROW, XP_CLIPR, "")
      }
    } else {
      struct tvm_pulp_scaled_channel c = tvm_pulp_scaled_channel_of(requant, &s, first);
      if (s.nudge) {
        LOOP(TWICE, XP_CLIPR, MOVE)
      } else if (middle) {
        LOOP(ONCE, XP_CLIPR, MOVE)
      } else {
        LOOP(ONCE, XP_CLIPR, "")
      }
    }
  }
}

void tvm_pulp_requantize_channel(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count, void *y,
                                 uint32_t step, uint32_t channel) {
  tvm_pulp_requantize_channels(requant, acc, count, 1, (uint8_t *)y, step, channel);
}
