/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes through a table, four at a time. */
#ifndef TVM_PULP_XPULP_TRANSLATE_H
#define TVM_PULP_XPULP_TRANSLATE_H

#include "four_elements.h"

/* A whole number of words, at least one; both places move on. */
TVM_PULP_XP void tvm_pulp_translate_words(const uint8_t **from, const uint8_t *table, uint8_t **to, uint32_t words) {
  const uint8_t *x = *from;
  uint8_t *y = *to;
  FOUR_LOCALS;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(XP_LBU, 1, "%[x]") FOUR(XP_LBUX, "%[t]") FOUR_STORE XP_END
                   : FOUR_OUTPUTS, [x] "+r"(x)
                   : [n] "r"(words), [t] "r"(table)
                   : "memory");
  *from = x;
  *to = y;
}

static __attribute__((unused)) void tvm_pulp_translate(const uint8_t *x, const uint8_t *table, uint8_t *y,
                                                       uint32_t words) {
  tvm_pulp_translate_words(&x, table, &y, words);
}

/* Any number of bytes. */
static inline void tvm_pulp_look_up(const uint8_t *x, const uint8_t *table, uint8_t *y, uint32_t count) {
  if (count >> 2) tvm_pulp_translate_words(&x, table, &y, count >> 2);
  for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = table[x[i]];
}

#endif /* TVM_PULP_XPULP_TRANSLATE_H */
