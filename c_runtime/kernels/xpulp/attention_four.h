/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention of heads of four elements with 16-bit exponentials. */
#ifndef TVM_PULP_ATTENTION_FOUR_H
#define TVM_PULP_ATTENTION_FOUR_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"

/* This core's share. Returns something else than 0 where a mask lifts a logit; the result is wrong then. */
int32_t tvm_pulp_attention_four(const struct tvm_pulp_attention_args *args, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_ATTENTION_FOUR_H */
