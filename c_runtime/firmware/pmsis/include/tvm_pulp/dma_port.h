/* SPDX-License-Identifier: Apache-2.0
 *
 * Cluster DMA by calls of the SDK, which has one record per transfer where the network has groups of them. */
#ifndef TVM_PULP_DMA_PORT_H
#define TVM_PULP_DMA_PORT_H

#include <stdint.h>

#include "tvm_pulp/event_unit.h"

/* Take a group, of up to seven per core at a time. */
uint32_t tvm_pulp_dma_begin(void);

/* Start a transfer, which belongs to this core's newest tvm_pulp_dma_begin. `lines`, read if `in_lines`: length of
 * lines, and stride of their starts. */
void tvm_pulp_dma_command(uint32_t head, uint32_t l1, uint32_t external, uint32_t in_lines, const uint32_t *lines);

/* Sleep until all transfers of this group are over, and give it back. */
void tvm_pulp_dma_wait(uint32_t id);

#endif /* TVM_PULP_DMA_PORT_H */
