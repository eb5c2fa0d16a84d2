/* SPDX-License-Identifier: Apache-2.0
 *
 * How sums become results, as product.h says, and how many constants that takes. */
#ifndef TVM_PULP_RULE_H
#define TVM_PULP_RULE_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

enum tvm_pulp_saturation { TVM_PULP_S8, TVM_PULP_U8, TVM_PULP_U7, TVM_PULP_S8_AWAY, TVM_PULP_S32 };

/* The network's rule for a sum, where no other form of it gives the same results. */
typedef int32_t (*tvm_pulp_rule)(int32_t sum, int32_t channel, const int32_t *constants);

/* Constants of a block of channels: what sums begin with, then the others. */
TVM_PULP_INLINE int32_t tvm_pulp_scale_words(int32_t channels, enum tvm_pulp_saturation saturation) {
  return channels * (saturation == TVM_PULP_S32 ? 1 : saturation == TVM_PULP_S8_AWAY ? 5 : 4);
}

#endif /* TVM_PULP_RULE_H */
