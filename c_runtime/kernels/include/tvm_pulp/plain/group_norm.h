/* SPDX-License-Identifier: Apache-2.0
 *
 * What normalizations of groups of channels make of sums and of an element. */
#ifndef TVM_PULP_PLAIN_GROUP_NORM_H
#define TVM_PULP_PLAIN_GROUP_NORM_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/real.h"
#include "tvm_pulp/work_share.h"

/* What a group is multiplied with, from the sums of its elements and of their squares. */
static inline float tvm_pulp_group_norm_factor(const struct tvm_pulp_group_norm_args *args, int32_t total,
                                               uint32_t squares) {
  int64_t sum = total;
  float spread = tvm_pulp_real_of((uint64_t)(args->channels * args->pixels) * squares - (uint64_t)(sum * sum));
  return args->reals[2] * tvm_pulp_inverse_root(spread * args->reals[0] + args->reals[1]);
}

static inline int32_t tvm_pulp_group_norm_value(const struct tvm_pulp_group_norm_args *args, int32_t distance,
                                                float slope, float bias) {
  float scaled = (float)distance * slope;
  return tvm_pulp_round_within(scaled + bias, args->low, args->high) + args->zero_point;
}

#endif /* TVM_PULP_PLAIN_GROUP_NORM_H */
