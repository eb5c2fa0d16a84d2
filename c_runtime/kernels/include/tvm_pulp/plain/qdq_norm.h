/* SPDX-License-Identifier: Apache-2.0
 *
 * What normalizations of quantize/dequantize graphs make of sums and of an element. */
#ifndef TVM_PULP_PLAIN_QDQ_NORM_H
#define TVM_PULP_PLAIN_QDQ_NORM_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/real.h"
#include "tvm_pulp/work_share.h"

/* What a row is multiplied with, from the sums of its elements and of their squares. */
static inline float tvm_pulp_qdq_norm_factor(const struct tvm_pulp_qdq_norm_args *args, int32_t total,
                                             uint32_t squares) {
  float spread;
  if (args->centred && args->columns < 256u) {
    spread = (float)(args->columns * squares - (uint32_t)total * (uint32_t)total);
  } else if (args->centred) {
    int64_t sum = total;
    spread = tvm_pulp_real_of((uint64_t)args->columns * squares - (uint64_t)(sum * sum));
  } else {
    uint32_t zero_point = (uint32_t)args->zero_point_x;
    spread = (float)(squares + zero_point * zero_point * args->columns - 2u * zero_point * (uint32_t)total);
  }
  spread = spread * args->reals[0];
  if (args->table) return args->table[tvm_pulp_round_within(spread, args->index_low, args->index_high) - args->index_low];
  return args->reals[2] * tvm_pulp_inverse_root(spread + args->reals[1]);
}

/* One element from a * factor. */
static inline int32_t tvm_pulp_qdq_norm_value(const struct tvm_pulp_qdq_norm_args *args, float v, uint32_t column) {
  if (args->stages > 0u) {
    if (args->rounds & 1u) v = (float)tvm_pulp_round_within(v, args->low0, args->high0);
    v = v * args->weight0[column];
    if (args->bias0) v = v + args->bias0[column];
  }
  if (args->stages > 1u) {
    if (args->rounds & 2u) v = (float)tvm_pulp_round_within(v, args->low1, args->high1);
    v = v * args->weight1[column];
    if (args->bias1) v = v + args->bias1[column];
  }
  return tvm_pulp_round_within(v, args->low, args->high) + args->zero_point;
}

#endif /* TVM_PULP_PLAIN_QDQ_NORM_H */
