/* SPDX-License-Identifier: Apache-2.0
 *
 * Division by the root of a row, as the normalizations need it.
 *
 * With P the product of value and weight, s the root and S = s << shift, they want floor(P / S) for P >= 0 and
 * floor((P + s - 1) / S) for P < 0: truncation by s, then floor by the shift. In doubled numbers, v = 2 P and
 * v = 2 (P + s - 1) + 1 over D = 2 S. The reciprocal is rounded up, M = floor(2^(32 + j) / D) + 1 with
 * 2^j < D < 2^(j + 1), so v * M exceeds the true quotient by less than |v| / 2^(32 + j): less than the gap of 2 / D
 * (even v >= 0) or 1 / D (odd v) while |v| < 2^31. A power of two has an exact reciprocal instead. */
#ifndef TVM_PULP_NORM_ROOT_H
#define TVM_PULP_NORM_ROOT_H

#include <stdint.h>

#include "tvm_pulp/xpulp.h"

/* The quotient is (v + correction if v < 0) * multiplier >> 32 >> shift. */
struct tvm_pulp_root {
  uint32_t multiplier;
  int32_t shift;
  int32_t correction;
};

/* Floor of the square root; 1 <= value < 2^30. */
static inline uint32_t tvm_pulp_xp_isqrt(uint32_t value) {
  uint32_t root = 0, highest = (uint32_t)tvm_pulp_xp_fl1((int32_t)value) >> 1, bit = 1u << highest;
  uint32_t n = highest + 1u, next, fits;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "or %[x],%[r],%[b]\nmul %[f],%[x],%[x]\n" XP_SLETU("%[f]", "%[f]", "%[v]")
                       XP_MAC("%[r]", "%[f]", "%[b]") XP_LOOP_END "srli %[b],%[b],1\n" XP_END
                   : [r] "+r"(root), [b] "+r"(bit), [x] "=&r"(next), [f] "=&r"(fits)
                   : [n] "r"(n), [v] "r"(value));
  return root;
}

/* A division takes 30 cycles, and rows are often a power of two long. */
static inline uint32_t tvm_pulp_mean(uint32_t sum, uint32_t count) {
  return (count & (count - 1u)) == 0u ? sum >> tvm_pulp_xp_fl1((int32_t)count) : sum / count;
}

/* Of floor(sqrt(value)) < 2^15. */
static inline struct tvm_pulp_root tvm_pulp_root_of(uint32_t value, int32_t shift) {
  struct tvm_pulp_root r;
  uint32_t root = tvm_pulp_xp_isqrt(value);
  int32_t top = tvm_pulp_xp_fl1((int32_t)root);
  r.correction = (int32_t)(2u * root - 1u);
  r.shift = shift + top;
  r.multiplier = 0x80000000u;
  if ((root & (root - 1u)) != 0u) {
    uint32_t quotient = 0xffffffffu / root, rest = 0u - quotient * root;
    r.multiplier = (quotient << top) + (rest << top) / root + 1u;
    ++r.shift;
  }
  return r;
}

#endif /* TVM_PULP_NORM_ROOT_H */
