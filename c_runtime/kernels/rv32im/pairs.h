/* SPDX-License-Identifier: Apache-2.0
 *
 * Two products of bytes by one multiplication of words, for cores whose multiplier is scarce.
 *
 * Bytes a, b and v, w as a + (b << 16) and w + (v << 16) have the product
 *
 *   a * w + ((a * v + b * w') << 16)   modulo 2^32, with the upper halves' product beyond it
 *
 * so with the halves of one operand exchanged the upper half of the product is the sum of both products, but for a
 * borrow of a * w. Adding TVM_PULP_PAIR_BIAS makes all of it positive: the upper half is then the sum plus
 * TVM_PULP_PAIR_OFFSET, for all values of the bytes. */
#ifndef TVM_PULP_PAIRS_H
#define TVM_PULP_PAIRS_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

#define TVM_PULP_PAIR_OFFSET 32512u
#define TVM_PULP_PAIR_BIAS (TVM_PULP_PAIR_OFFSET << 16 | 0x4000u)

/* Bytes 0 and 2, 1 and 3 of a word, each with 128 added already, as pairs of signed numbers. */
TVM_PULP_INLINE uint32_t tvm_pulp_even_pair(uint32_t raised) { return (raised & 0x00FF00FFu) - 0x00800080u; }
TVM_PULP_INLINE uint32_t tvm_pulp_odd_pair(uint32_t raised) { return (raised >> 8 & 0x00FF00FFu) - 0x00800080u; }
TVM_PULP_INLINE uint32_t tvm_pulp_raise(uint32_t word) { return word ^ 0x80808080u; }
TVM_PULP_INLINE uint32_t tvm_pulp_exchange(uint32_t word) { return word << 16 | word >> 16; }

/* Rows of pairs: two words for four bytes, halves exchanged. */
TVM_PULP_INLINE void tvm_pulp_put_pairs(uint32_t *pairs, uint32_t word, uint32_t signs) {
  const uint32_t raised = tvm_pulp_exchange(word) ^ signs;
  pairs[0] = tvm_pulp_even_pair(raised);
  pairs[1] = tvm_pulp_odd_pair(raised);
}

struct tvm_pulp_four {
  uint32_t of[4]; /* row 0 by column 0 and 1, row 1 by both */
};

/* What two rows and two columns contribute four at a time. `more`: there are words behind these, which are read here,
 * so that three instructions and more lie between a load or a multiplication and its use. */
TVM_PULP_INLINE void tvm_pulp_four_steps(struct tvm_pulp_four *sums, const uint32_t *row0, const uint32_t *row1,
                                         const uint32_t *weight, uint32_t word[4], int more) {
  const uint32_t odd0 = row0[1];
  const uint32_t v = tvm_pulp_raise(word[0]), w = tvm_pulp_raise(word[1]);
  const uint32_t even_v = tvm_pulp_even_pair(v), even_w = tvm_pulp_even_pair(w);
  const uint32_t p0 = word[2] * even_v, p1 = word[2] * even_w;
  const uint32_t odd1 = row1[1];
  const uint32_t p2 = word[3] * even_v, p3 = word[3] * even_w;
  const uint32_t odd_v = tvm_pulp_odd_pair(v), odd_w = tvm_pulp_odd_pair(w);
  if (more) word[0] = weight[4];
  sums->of[0] += (p0 + TVM_PULP_PAIR_BIAS) >> 16;
  const uint32_t q0 = odd0 * odd_v, q1 = odd0 * odd_w;
  if (more) word[1] = weight[5];
  sums->of[1] += (p1 + TVM_PULP_PAIR_BIAS) >> 16;
  const uint32_t q2 = odd1 * odd_v, q3 = odd1 * odd_w;
  if (more) word[2] = row0[2];
  sums->of[2] += (p2 + TVM_PULP_PAIR_BIAS) >> 16;
  sums->of[3] += (p3 + TVM_PULP_PAIR_BIAS) >> 16;
  if (more) word[3] = row1[2];
  sums->of[0] += (q0 + TVM_PULP_PAIR_BIAS) >> 16;
  sums->of[1] += (q1 + TVM_PULP_PAIR_BIAS) >> 16;
  sums->of[2] += (q2 + TVM_PULP_PAIR_BIAS) >> 16;
  sums->of[3] += (q3 + TVM_PULP_PAIR_BIAS) >> 16;
}

/* Two rows of pairs times two neighbouring columns of packed weights. The loop fits the 64 instructions that a core
 * holds by itself. */
TVM_PULP_INLINE struct tvm_pulp_four tvm_pulp_two_by_two(const uint32_t *row0, const uint32_t *row1,
                                                         const uint32_t *weight, uint32_t words) {
  const uint32_t *last = weight + 4u * (words - 1u);
  struct tvm_pulp_four sums = {{0, 0, 0, 0}};
  uint32_t word[4] = {weight[0], weight[1], row0[0], row1[0]};
  for (; weight != last; weight += 4, row0 += 2, row1 += 2) tvm_pulp_four_steps(&sums, row0, row1, weight, word, 1);
  tvm_pulp_four_steps(&sums, row0, row1, weight, word, 0);
  for (uint32_t i = 0; i < 4u; i++) sums.of[i] -= 2u * words * TVM_PULP_PAIR_OFFSET;
  return sums;
}

/* Sum of a column of packed weights. */
TVM_PULP_INLINE int32_t tvm_pulp_column_sum(const uint32_t *weight, uint32_t words) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < words; i++) {
    const uint32_t raised = tvm_pulp_raise(weight[4u * i]);
    const uint32_t halves = (raised & 0x00FF00FFu) + (raised >> 8 & 0x00FF00FFu);
    sum += (halves & 0xFFFFu) + (halves >> 16);
  }
  return (int32_t)(sum - 512u * words);
}

#endif /* TVM_PULP_PAIRS_H */
