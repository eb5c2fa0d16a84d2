/* SPDX-License-Identifier: Apache-2.0
 *
 * Requantization of accumulators in memory, any kind. */
#ifndef TVM_PULP_REQUANTIZE_BLOCK_H
#define TVM_PULP_REQUANTIZE_BLOCK_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"

/* A row of channels: writes columns [first, first + count) of the row y. */
void tvm_pulp_requantize_block(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count, void *y,
                               uint32_t first);

/* One channel: results `step` bytes apart. */
void tvm_pulp_requantize_channel(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count, void *y,
                                 uint32_t step, uint32_t channel);

#endif /* TVM_PULP_REQUANTIZE_BLOCK_H */
