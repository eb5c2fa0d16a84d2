/* SPDX-License-Identifier: Apache-2.0
 *
 * Requantization of a row of accumulators, any kind. */
#ifndef TVM_PULP_REQUANTIZE_BLOCK_H
#define TVM_PULP_REQUANTIZE_BLOCK_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"

/* Writes columns [first, first + count) of the row y. */
void tvm_pulp_requantize_block(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count, void *y,
                               uint32_t first);

#endif /* TVM_PULP_REQUANTIZE_BLOCK_H */
