/* SPDX-License-Identifier: Apache-2.0
 *
 * The cluster DMA's registers: what a port to another driver of the same DMA replaces. Every core has its own port. */
#ifndef TVM_PULP_DMA_PORT_H
#define TVM_PULP_DMA_PORT_H

#include <stdint.h>

#include "tvm_pulp/event_unit.h"

/* Take a transfer counter; stands still while all 16 are taken. */
static inline uint32_t tvm_pulp_dma_begin(void) { return TVM_PULP_REGISTER(SIRACUSA_DMA_COMMAND); }

/* Start a transfer, which belongs to this core's newest tvm_pulp_dma_begin. `lines`, read if `in_lines`: length of
 * lines, and stride of their starts. */
static inline void tvm_pulp_dma_command(uint32_t head, uint32_t l1, uint32_t external, uint32_t in_lines,
                                        const uint32_t *lines) {
  TVM_PULP_REGISTER(SIRACUSA_DMA_COMMAND) = head;
  TVM_PULP_REGISTER(SIRACUSA_DMA_COMMAND) = l1;
  TVM_PULP_REGISTER(SIRACUSA_DMA_COMMAND) = external;
  if (in_lines != 0u) {
    TVM_PULP_REGISTER(SIRACUSA_DMA_COMMAND) = lines[0];
    TVM_PULP_REGISTER(SIRACUSA_DMA_COMMAND) = lines[1];
  }
}

/* Sleep until all transfers of this id are over, and give the id back. */
static inline void tvm_pulp_dma_wait(uint32_t id) {
  const uint32_t counter = 1u << id;
  while (TVM_PULP_REGISTER(SIRACUSA_DMA_STATUS) & counter) tvm_pulp_event_wait(SIRACUSA_LINE_DMA);
  TVM_PULP_REGISTER(SIRACUSA_DMA_STATUS) = counter;
  __asm__ volatile("" ::: "memory");
}

#endif /* TVM_PULP_DMA_PORT_H */
