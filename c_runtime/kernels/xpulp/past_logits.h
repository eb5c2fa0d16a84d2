/* SPDX-License-Identifier: Apache-2.0
 *
 * Logits of one query over rows of keys: (q . k * mul + 2^(shift - 1)) >> shift. */
#ifndef TVM_PULP_PAST_LOGITS_H
#define TVM_PULP_PAST_LOGITS_H

#include "tvm_pulp/xpulp.h"

struct tvm_pulp_keys {
  const int8_t *rows;
  uint32_t stride;
  uint32_t count;
};

/* One logit; `words` >= 1. */
TVM_PULP_XP int32_t tvm_pulp_logit(const int8_t *q, const int8_t *k, uint32_t words, int32_t mul, int32_t shift) {
  int32_t acc = 0, x, w;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[x]", 4, "%[q]") XP_LW("%[w]", 4, "%[k]") "nop\n" XP_LOOP_END
                       XP_SDOTSP("%[a]", "%[x]", "%[w]") XP_END
                   : [q] "+r"(q), [k] "+r"(k), [a] "+r"(acc), [x] "=&r"(x), [w] "=&r"(w)
                   : [n] "r"(words)
                   : "memory");
  return (acc * mul + (1 << (shift - 1))) >> shift;
}

#define TVM_PULP_KEY_WORD(into, at) "lw " into "," #at "(%[k])\n"
/* Heads of 32 elements: the query stays in registers, a key takes twenty cycles. Returns the largest logit and
 * `largest`; the loads of cores at neighbouring heads fall into step by themselves. */
static inline __attribute__((unused)) int32_t tvm_pulp_logits_of_32(const int8_t *query, struct tvm_pulp_keys keys,
                                                                    int32_t mul, int32_t shift, int32_t *logits,
                                                                    int32_t largest) {
  const int32_t *q = (const int32_t *)(const void *)query;
  const int8_t *k = keys.rows;
  int32_t x, w0, w1, half = 1 << (shift - 1);
  if (keys.count == 0u) return largest;
  __asm__ volatile(
      XP_BEGIN XP_LOOP("%[n]") TVM_PULP_KEY_WORD("%[w0]", 4) TVM_PULP_KEY_WORD("%[w1]", 8)
          XP_DOTSP("%[x]", "%[q1]", "%[w0]") TVM_PULP_KEY_WORD("%[w0]", 12) XP_SDOTSP("%[x]", "%[q2]", "%[w1]")
              TVM_PULP_KEY_WORD("%[w1]", 16) XP_SDOTSP("%[x]", "%[q3]", "%[w0]") TVM_PULP_KEY_WORD("%[w0]", 20)
                  XP_SDOTSP("%[x]", "%[q4]", "%[w1]") TVM_PULP_KEY_WORD("%[w1]", 24)
                      XP_SDOTSP("%[x]", "%[q5]", "%[w0]") TVM_PULP_KEY_WORD("%[w0]", 28)
                          XP_SDOTSP("%[x]", "%[q6]", "%[w1]") XP_LWR("%[w1]", "%[s]", "%[k]")
                              XP_SDOTSP("%[x]", "%[q7]", "%[w0]") XP_SDOTSP("%[x]", "%[q0]", "%[w1]")
                                  "mul %[x],%[x],%[m]\n" XP_ADDNR("%[x]", "%[h]", "%[sh]")
                                      XP_MAX("%[l]", "%[l]", "%[x]") XP_LOOP_END XP_SW("%[x]", 4, "%[y]") XP_END
      : [k] "+r"(k), [y] "+r"(logits), [l] "+r"(largest), [x] "=&r"(x), XP_TWO("=&r", w)
      : [n] "r"(keys.count), [s] "r"(keys.stride), [m] "r"(mul), [h] "r"(half), [sh] "r"(shift), XP_FOUR_OF("r", q, q),
        [q4] "r"(q[4]), [q5] "r"(q[5]), [q6] "r"(q[6]), [q7] "r"(q[7])
      : "memory");
  return largest;
}

/* Heads of any size. */
static __attribute__((noinline, unused)) int32_t tvm_pulp_logits_of_any(const int8_t *query, uint32_t words,
                                                                        struct tvm_pulp_keys keys, int32_t mul,
                                                                        int32_t shift, int32_t *logits,
                                                                        int32_t largest) {
  const int8_t *k = keys.rows;
  for (uint32_t key = 0; key < keys.count; ++key, k += keys.stride) {
    logits[key] = tvm_pulp_logit(query, k, words, mul, shift);
    largest = tvm_pulp_xp_max(largest, logits[key]);
  }
  return largest;
}

#endif /* TVM_PULP_PAST_LOGITS_H */
