/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of scaled bytes in plain C. */
#ifndef TVM_PULP_PLAIN_ADD_PAIRS_H
#define TVM_PULP_PLAIN_ADD_PAIRS_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/plain/elementwise.h"

TVM_PULP_INLINE int32_t tvm_pulp_pair_value(const struct tvm_pulp_pair_scale *s, uint32_t byte) {
  return (int32_t)((byte * s->mul + (s->add & 0xFFFFu)) >> s->shift);
}

TVM_PULP_INLINE void tvm_pulp_add_pairs_one(const struct tvm_pulp_add_pairs_args *p, uint32_t row, uint32_t column) {
  const uint32_t at = p->per_channel ? column : 0u;
  const uint32_t flip = p->flip & 0xFFu;
  const uint8_t *a = tvm_pulp_row(p->a, row, p->a_stride), *b = p->b;
  int32_t sum = (int32_t)(a[column] ^ flip);
  if (b) {
    sum = tvm_pulp_pair_value(&p->f, (uint32_t)sum);
    sum += tvm_pulp_pair_value(&p->g, b[(uintptr_t)row * p->b_stride + column] ^ flip);
  }
  const int32_t value = tvm_pulp_requantize(sum, p->mul[at], p->add[at], p->shift, 0, p->span);
  ((uint8_t *)tvm_pulp_out_row(p->y, row, p->y_stride))[column] = (uint8_t)((uint32_t)value ^ flip);
}

static inline void tvm_pulp_plain_add_pairs(const struct tvm_pulp_add_pairs_args *p, uint32_t core, uint32_t cores) {
  TVM_PULP_EACH_ELEMENT(p->rows, p->columns, core, cores, { tvm_pulp_add_pairs_one(p, row, column); });
}

#endif /* TVM_PULP_PLAIN_ADD_PAIRS_H */
