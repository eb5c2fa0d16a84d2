/* SPDX-License-Identifier: Apache-2.0
 *
 * What the normalizations need of a row of bytes. */
#ifndef TVM_PULP_NORM_ROW_H
#define TVM_PULP_NORM_ROW_H

#include "four_elements.h"
#include "norm_root.h"
#include "row_walk.h"

/* Sum of squares, and sum. The words of a row may stand anywhere. */
#define TVM_PULP_ROW_SUMS(name, type, DOT)                                                                   \
  static inline uint32_t name(const type *x, uint32_t count, int32_t *total) {                               \
    uint32_t squares = 0, more = 0, n = count >> 3, i;                                                       \
    int32_t sum = 0, first, second;                                                                          \
    if (n && total) {                                                                                        \
      __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[f]", 4, "%[x]") XP_LW("%[g]", 4, "%[x]")            \
                           DOT##S("%[q]", "%[f]") DOT("%[s]", "%[f]", "%[o]") DOT##S("%[r]", "%[g]")         \
                           XP_LOOP_END DOT("%[s]", "%[g]", "%[o]") XP_END                                    \
                       : [x] "+r"(x), [q] "+r"(squares), [r] "+r"(more), [s] "+r"(sum), [f] "=&r"(first),    \
                         [g] "=&r"(second)                                                                   \
                       : [n] "r"(n), [o] "r"(0x01010101)                                                     \
                       : "memory");                                                                          \
    } else if (n) {                                                                                          \
      __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[f]", 4, "%[x]") XP_LW("%[g]", 4, "%[x]")            \
                           DOT##S("%[q]", "%[f]") XP_LOOP_END DOT##S("%[r]", "%[g]") XP_END                  \
                       : [x] "+r"(x), [q] "+r"(squares), [r] "+r"(more), [f] "=&r"(first), [g] "=&r"(second) \
                       : [n] "r"(n)                                                                          \
                       : "memory");                                                                          \
    }                                                                                                        \
    squares += more;                                                                                         \
    for (i = 0; i < (count & 7u); ++i) {                                                                     \
      squares += (uint32_t)(x[i] * x[i]);                                                                    \
      sum += x[i];                                                                                           \
    }                                                                                                        \
    if (total) *total = sum;                                                                                 \
    return squares;                                                                                          \
  }
/* A word with itself. */
#define XP_SDOTSPS(rd, a) XP_SDOTSP(rd, a, a)
#define XP_SDOTUSPS(rd, a) XP_SDOTUP(rd, a, a)
TVM_PULP_ROW_SUMS(tvm_pulp_sums_signed, int8_t, XP_SDOTSP)
TVM_PULP_ROW_SUMS(tvm_pulp_sums_unsigned, uint8_t, XP_SDOTUSP)

TVM_PULP_INLINE uint32_t tvm_pulp_row_sums(const void *x, uint32_t type, uint32_t count, int32_t *total) {
  return type == TVM_PULP_INT8 ? tvm_pulp_sums_signed(x, count, total) : tvm_pulp_sums_unsigned(x, count, total);
}

/* Four elements v and their weights w, divided by the root of a row; operands c, m, j are the root's, h the limit. */
#define NORM_VALUE(v, w) "mul " v "," v "," w "\n"
#define NORM_SIGN(v, w) "srli " w "," v ",31\n"
#define NORM_SHIFTED(v, w) XP_MAC(v, w, "%[c]")
#define NORM_DIVIDED(v, w) "mulhsu " v "," v ",%[m]\n"
#define NORM_SCALED(v, w) "sra " v "," v ",%[j]\n"
#define NORM_CLIPPED(v, w) XP_CLIPR(v, v, "%[h]")
#define NORM_FOUR_DIVIDED \
  FOUR_EACH(NORM_VALUE) FOUR_EACH(NORM_SIGN) FOUR_EACH(NORM_SHIFTED) FOUR_EACH(NORM_DIVIDED)
#define NORM_LOADS(LOAD)                                                                              \
  FOUR_LOAD(LOAD, 1, "%[x]")                                                                          \
  XP_LW("%[w0]", 4, "%[w]") XP_LW("%[w1]", 4, "%[w]") XP_LW("%[w2]", 4, "%[w]") XP_LW("%[w3]", 4, "%[w]")

#endif /* TVM_PULP_NORM_ROW_H */
