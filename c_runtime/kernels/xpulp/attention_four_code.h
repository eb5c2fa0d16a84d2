/* SPDX-License-Identifier: Apache-2.0
 *
 * Assembler text of the loops over the keys, four at a time, for heads of four elements. */
#ifndef TVM_PULP_ATTENTION_FOUR_CODE_H
#define TVM_PULP_ATTENTION_FOUR_CODE_H

#include "softmax_row.h"

/* Logits of four keys as a word in v0, and the largest so far in `best`. CLIP and the mask's parts are text or
 * nothing; a mask only takes away, `lift` keeps its largest values to prove that. */
#define EACH(OP) OP("%[v0]", "%[k0]") OP("%[v1]", "%[k1]") OP("%[v2]", "%[k2]") OP("%[v3]", "%[k3]")
#define KEY(v, k) XP_LWR(k, "%[s]", "%[k]")
#define DOT_FIRST(v, k) XP_DOTSP(v, k, "%[q]")
#define DOT_SECOND(v, k) XP_DOTSP(v, k, "%[r]")
#define SCALE(v, k) "mul " v "," v ",%[m]\n"
#define ADD(v, k) XP_ADDNR(v, "%[a]", "%[sh]")
#define CLIPPED(v, k) XP_CLIP8(v, v)
#define LOOK(v, k) XP_LBUX(v, v, "%[tb]")
#define MASK_FIRST XP_LW("%[v1]", 4, "%[ma]")
#define MASK_SECOND XP_LWX("%[v1]", "%[ms]", "%[ma]")
#define MASK_APPLY                                                                                          \
  XP_MAX4("%[l]", "%[l]", "%[v1]") XP_SUB4("%[v1]", "x0", "%[v1]") XP_MINU4("%[v1]", "%[v1]", "%[v0]")      \
  XP_SUB4("%[v0]", "%[v0]", "%[v1]")
#define LOGITS(DOT, CLIP, LOAD_MASK, MASK, best)                                                            \
  EACH(DOT) EACH(SCALE) EACH(ADD) CLIP EACH(LOOK) XP_PACKLO("%[v0]", "%[v1]", "%[v0]") LOAD_MASK            \
  XP_PACKHI("%[v0]", "%[v3]", "%[v2]") MASK XP_MAXU4(best, best, "%[v0]")

/* Two queries: the keys are loaded once. The second one's results are `pad` bytes behind, its mask `ms`. */
#define LOGITS_OF_TWO(CLIP, LOAD_FIRST, LOAD_SECOND, MASK)                                                  \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") EACH(KEY) LOGITS(DOT_SECOND, CLIP, LOAD_SECOND, MASK, "%[c]")    \
                       XP_SWX("%[v0]", "%[pad]", "%[y]") LOGITS(DOT_FIRST, CLIP, LOAD_FIRST, MASK, "%[b]")   \
                       XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END                                         \
                   : [k] "+r"(k), [y] "+r"(y), [b] "+r"(best), [c] "+r"(best_next), [ma] "+r"(mask),        \
                     [l] "+r"(lift), XP_FOUR("=&r", v), XP_FOUR("=&r", k)                                   \
                   : [n] "r"(n), [q] "r"(word), [r] "r"(word_next), [s] "r"(stride), [m] "r"(mul), [a] "r"(add), \
                     [sh] "r"(shift), [tb] "r"(table), [pad] "r"(pad), [ms] "r"(mask_stride)                \
                   : "memory")

/* A two in each lane. */
#define BYTE_PICKS [c0] "r"(2), [c1] "r"(2 << 8), [c2] "r"(2 << 16), [c3] "r"(2 << 24)
/* A dot product with 2 in one lane picks that byte of a word, doubled: the offset into a table of halves. */
#define PICKED(w)                                                                                           \
  XP_DOTUP("%[v0]", w, "%[c0]") XP_DOTUP("%[v1]", w, "%[c1]") XP_DOTUP("%[v2]", w, "%[c2]") XP_DOTUP("%[v3]", w, "%[c3]")
/* Exponentials of what was picked, and their sum. The last store is left to the caller. */
#define SUMMED_EXPONENTIALS(table, e, sum)                                                                  \
  XP_LHUX("%[v0]", "%[v0]", table) XP_LHUX("%[v1]", "%[v1]", table) XP_LHUX("%[v2]", "%[v2]", table)         \
  XP_LHUX("%[v3]", "%[v3]", table) XP_PACK_H("%[v0]", "%[v1]", "%[v0]") XP_PACK_H("%[v2]", "%[v3]", "%[v2]") \
  XP_SDOTUP2(sum, "%[v0]", "%[o]") XP_SW("%[v0]", 4, e) XP_SDOTUP2(sum, "%[v2]", "%[o]")
/* Of four logits. */
#define EXPONENTIALS_OF(FIRST, THIS, NEXT)                                                                  \
  __asm__ volatile(FIRST XP_BEGIN XP_LOOP("%[n]") THIS PICKED("%[w]") NEXT                                  \
                       SUMMED_EXPONENTIALS("%[t]", "%[e]", "%[sum]") XP_LOOP_END XP_SW("%[v2]", 4, "%[e]") XP_END \
                   : [x] "+r"(x), [e] "+r"(e), [sum] "+r"(sum), XP_FOUR("=&r", v), [w] "=&r"(w)             \
                   : [n] "r"(n), [t] "r"(table), [o] "r"(0x00010001), BYTE_PICKS                          \
                   : "memory")

#define LOAD_LOGITS XP_LW("%[w]", 4, "%[x]")
/* One word more is read than there are. */
#define EXPONENTIALS EXPONENTIALS_OF(LOAD_LOGITS, "", LOAD_LOGITS)

/* Whether one of the eight exponentials before `e` reaches a bound, which both halves of `t` hold. */
#define ANY_REACHES                                                                                         \
  __asm__("lw %[v0],-4(%[e])\nlw %[v1],-8(%[e])\nlw %[v2],-12(%[e])\nlw %[v3],-16(%[e])\n"                  \
          XP_MAXU2("%[v0]", "%[v0]", "%[v1]") XP_MAXU2("%[v2]", "%[v2]", "%[v3]")                           \
          XP_MAXU2("%[v0]", "%[v0]", "%[v2]") XP_CMPGEU2("%[v0]", "%[v0]", "%[t]")                          \
          : XP_FOUR("=&r", v)                                                                               \
          : [e] "r"(e), [t] "r"(bound)                                                                      \
          : "memory")

/* floor(2^39 * top / sum) + 1; top < 2^8, 2^15 <= sum < 2^24. With 2^32 = quotient * sum + rest, rest / sum is
 * rest * (quotient + rest / sum) / 2^32: its first two terms are less than 2^-16 too small, which is half a unit of the
 * result, so that what they give is at most one too small. One division takes longer than all other steps. */
static inline uint32_t tvm_pulp_weight_factor(uint32_t top, uint32_t sum) {
  uint32_t quotient = 0xffffffffu / sum, rest = 0u - quotient * sum, fraction = rest * quotient, scale = top << 7;
  fraction += (uint32_t)((uint64_t)fraction * rest >> 32);
  uint32_t factor = scale * quotient + (uint32_t)((uint64_t)fraction * scale >> 32);
  return factor + (0u - factor * sum >= sum) + 1u;
}

/* Halves of a factor, both in both halves of a word. */
#define LOWER_HALVES(m) ((m) << 16 | ((m) & 0xffffu))
#define UPPER_HALVES(m) ((m) >> 16 | ((m) & 0xffff0000u))

/* Weights of four keys in t0 .. t3: exponential times factor; f holds the factor's lower halves, h its upper ones. */
#define WEIGHT(v) XP_LBUX(v, v, "%[p]")
#define LOOKUP WEIGHT("%[t0]") WEIGHT("%[t1]") WEIGHT("%[t2]") WEIGHT("%[t3]")
#define WEIGHTS(e, f, h)                                                                                    \
  XP_LW("%[x0]", 4, e) XP_LW("%[x1]", 4, e) XP_MULU16("%[t0]", "%[x0]", f) XP_MULHHU16("%[t1]", "%[x0]", f)  \
  XP_MULU16("%[t2]", "%[x1]", f) XP_MULHHU16("%[t3]", "%[x1]", f) XP_MACU23("%[t0]", "%[x0]", h)             \
  XP_MACHHU23("%[t1]", "%[x0]", h) XP_MACU23("%[t2]", "%[x1]", h) XP_MACHHU23("%[t3]", "%[x1]", h)

/* Two queries, packed values loaded once. */
#define PACKED(w) XP_PACKLO(w, "%[t1]", "%[t0]") XP_PACKHI(w, "%[t3]", "%[t2]")
#define PRODUCT_OF_TWO(LOOK_UP, DOT)                                                                        \
  __asm__ volatile("li %[a0],0\nli %[a1],0\nli %[a2],0\nli %[a3],0\nli %[b0],0\nli %[b1],0\nli %[b2],0\nli %[b3],0\n" \
                   XP_BEGIN XP_LOOP("%[n]") WEIGHTS("%[e]", "%[f]", "%[h]") LOOK_UP PACKED("%[w]")           \
                       WEIGHTS("%[g]", "%[i]", "%[j]") LOOK_UP                                              \
                       XP_LW("%[x0]", 4, "%[v]") XP_LW("%[x1]", 4, "%[v]") PACKED("%[t0]")                  \
                       DOT("%[a0]", "%[w]", "%[x0]") DOT("%[b0]", "%[t0]", "%[x0]")                         \
                       XP_LW("%[x0]", 4, "%[v]") DOT("%[a1]", "%[w]", "%[x1]")                              \
                       DOT("%[b1]", "%[t0]", "%[x1]") XP_LW("%[x1]", 4, "%[v]")                             \
                       DOT("%[a2]", "%[w]", "%[x0]") DOT("%[b2]", "%[t0]", "%[x0]")                         \
                       DOT("%[a3]", "%[w]", "%[x1]") XP_LOOP_END DOT("%[b3]", "%[t0]", "%[x1]") XP_END      \
                   : [e] "+r"(e), [g] "+r"(e_next), [v] "+r"(v), XP_FOUR("=&r", t), XP_TWO("=&r", x),       \
                     [w] "=&r"(w), XP_FOUR("=&r", a), XP_FOUR("=&r", b)                                     \
                   : [n] "r"(n), [f] "r"(low), [h] "r"(high), [i] "r"(low_next), [j] "r"(high_next),         \
                     [p] "r"(probability)                                                                   \
                   : "memory")

#endif /* TVM_PULP_ATTENTION_FOUR_CODE_H */
