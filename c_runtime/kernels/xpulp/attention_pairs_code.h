/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembler text of the loops over logits that are there already, four at a time, for two rows. */
#ifndef TVM_PULP_ATTENTION_PAIRS_CODE_H
#define TVM_PULP_ATTENTION_PAIRS_CODE_H

#include "attention_four_code.h"

/* The largest byte of each lane. */
#define LARGEST_OF_TWO                                                                                      \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w]", 4, "%[x]") XP_LW("%[g]", 4, "%[z]")                \
                       XP_MAXU4("%[b]", "%[b]", "%[w]") XP_LOOP_END XP_MAXU4("%[c]", "%[c]", "%[g]") XP_END \
                   : [x] "+r"(x), [z] "+r"(x_next), [b] "+r"(best), [c] "+r"(best_next), [w] "=&r"(w),       \
                     [g] "=&r"(w_next)                                                                      \
                   : [n] "r"(n)                                                                             \
                   : "memory")

/* What becomes of four logits before the table: nothing, one more where they are less than `l`, `l` at least. */
#define AS_THEY_ARE(w) ""
#define LIFTED(w) XP_CMPLTU4("%[v0]", w, "%[l]") XP_SUB4(w, w, "%[v0]")
#define AT_LEAST(w) XP_MAXU4(w, w, "%[l]")
#define EXPONENTIALS_OF_TWO(BEFORE, limit)                                                                  \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w]", 4, "%[x]") XP_LW("%[g]", 4, "%[z]")                \
                       BEFORE("%[w]") PICKED("%[w]") SUMMED_EXPONENTIALS("%[t]", "%[e]", "%[s]")            \
                       XP_SW("%[v2]", 4, "%[e]") BEFORE("%[g]") PICKED("%[g]")                              \
                       SUMMED_EXPONENTIALS("%[u]", "%[f]", "%[r]") XP_LOOP_END XP_SW("%[v2]", 4, "%[f]") XP_END \
                   : [x] "+r"(x), [z] "+r"(x_next), [e] "+r"(e), [f] "+r"(e_next), [s] "+r"(sum),           \
                     [r] "+r"(sum_next), XP_FOUR("=&r", v), [w] "=&r"(w), [g] "=&r"(w_next)                 \
                   : [n] "r"(n), [t] "r"(table), [u] "r"(table_next), [o] "r"(0x00010001), [l] "r"(limit), BYTE_PICKS \
                   : "memory")

/* Of one word of each row, to which a mask adds `step` levels for each of its own. */
#define MASKED_EXPONENTIALS(w, table, e, sum)                                                               \
  PICKED(w) XP_SDOTSP("%[v0]", "%[m]", "%[s0]") XP_SDOTSP("%[v1]", "%[m]", "%[s1]")                          \
  XP_SDOTSP("%[v2]", "%[m]", "%[s2]") XP_SDOTSP("%[v3]", "%[m]", "%[s3]") SUMMED_EXPONENTIALS(table, e, sum) \
  XP_SW("%[v2]", 4, e)
#define EXPONENTIALS_OF_MIXED(mask, step)                                                                   \
  __asm__ volatile(MASKED_EXPONENTIALS("%[w]", "%[t]", "%[e]", "%[s]")                                       \
                       MASKED_EXPONENTIALS("%[g]", "%[u]", "%[f]", "%[r]")                                  \
                   : [e] "+r"(e), [f] "+r"(e_next), [s] "+r"(sum), [r] "+r"(sum_next), XP_FOUR("=&r", v)     \
                   : [w] "r"(w), [g] "r"(w_next), [m] "r"(mask), [t] "r"(table), [u] "r"(table_next),        \
                     [o] "r"(0x00010001), BYTE_PICKS,                                                   \
                     [s0] "r"((step) << 1), [s1] "r"((step) << 9), [s2] "r"((step) << 17), [s3] "r"((step) << 25) \
                   : "memory")

/* Weights of exponentials, as bytes. */
#define WEIGHTS_OF_TWO(LOOK_UP)                                                                             \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") WEIGHTS("%[e]", "%[f]", "%[h]") LOOK_UP PACKED("%[t0]")          \
                       XP_SW("%[t0]", 4, "%[y]") WEIGHTS("%[g]", "%[i]", "%[j]") LOOK_UP PACKED("%[t0]")     \
                       XP_LOOP_END XP_SW("%[t0]", 4, "%[z]") XP_END                                         \
                   : [e] "+r"(e), [g] "+r"(e_next), [y] "+r"(y), [z] "+r"(y_next), XP_FOUR("=&r", t),       \
                     XP_TWO("=&r", x)                                                                       \
                   : [n] "r"(n), [f] "r"(LOWER_HALVES(m)), [h] "r"(UPPER_HALVES(m)), [i] "r"(LOWER_HALVES(m_next)), \
                     [j] "r"(UPPER_HALVES(m_next)), [p] "r"(probability)                                    \
                   : "memory")

#endif /* TVM_PULP_ATTENTION_PAIRS_CODE_H */
