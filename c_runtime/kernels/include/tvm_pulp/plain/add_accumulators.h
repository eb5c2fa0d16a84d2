/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of unrounded results, in plain C. */
#ifndef TVM_PULP_PLAIN_ADD_ACCUMULATORS_H
#define TVM_PULP_PLAIN_ADD_ACCUMULATORS_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

/* The half that rounds and the result's zero point, in fixed point. */
TVM_PULP_INLINE int32_t tvm_pulp_half_and_zero(const struct tvm_pulp_add_accumulators_args *p) {
  return (1 << (p->fraction - 1u)) + p->zero_point * (1 << p->fraction);
}

TVM_PULP_INLINE int32_t tvm_pulp_summand(const void *data, uint32_t index, uint32_t type, int32_t mul, uint32_t left,
                                         int32_t zero_point) {
  int32_t x = tvm_pulp_load(data, index, type);
  if (type != TVM_PULP_INT32) return (x - zero_point) * mul;
  return (int32_t)((int64_t)(x * (1 << left)) * mul >> 32);
}

static inline void tvm_pulp_plain_add_accumulators(const struct tvm_pulp_add_accumulators_args *p, uint32_t core,
                                                   uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(p->rows, core, cores);
  int32_t more = tvm_pulp_half_and_zero(p);
  for (uint32_t i = range.begin * p->columns, c = 0; i < range.end * p->columns; ++i) {
    uint32_t at_a = p->a_type == TVM_PULP_INT32 ? c : 0u, at_b = p->b_type == TVM_PULP_INT32 ? c : 0u;
    int32_t total = tvm_pulp_summand(p->a, i, p->a_type, p->mul_a[at_a], p->left_a, p->zero_point_a) +
                    tvm_pulp_summand(p->b, i, p->b_type, p->mul_b[at_b], p->left_b, p->zero_point_b);
    p->y[i] = (uint8_t)tvm_pulp_clip((total + more) >> p->fraction, p->low, p->high);
    if (++c == p->columns) c = 0;
  }
}

#endif /* TVM_PULP_PLAIN_ADD_ACCUMULATORS_H */
