/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights of attention by small exponentials where a mask comes before them, or several values are one logit. */
#ifndef TVM_PULP_ATTENTION_PAIRS_H
#define TVM_PULP_ATTENTION_PAIRS_H

#include "tvm_pulp/kernels.h"

/* What fills up the last word of a row counts for nothing. */
static inline void tvm_pulp_clear_rest(const struct tvm_pulp_attention_weights_args *args, uint8_t *y) {
  for (uint32_t key = args->keys; key < args->stride; ++key) y[key] = 0;
}

/* Without a table. */
void tvm_pulp_attention_pairs(const struct tvm_pulp_attention_weights_args *args, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_ATTENTION_PAIRS_H */
