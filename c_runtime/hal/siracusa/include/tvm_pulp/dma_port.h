/* SPDX-License-Identifier: Apache-2.0
 *
 * The cluster DMA's registers: what a port to another driver of the same DMA replaces. Every core has its own port. */
#ifndef TVM_PULP_DMA_PORT_H
#define TVM_PULP_DMA_PORT_H

#include <stdint.h>

#include "tvm_pulp/event_unit.h"

/* Heads of commands: bytes, up to TVM_PULP_DMA_LARGEST, and these. */
enum {
  TVM_PULP_DMA_TO_L1 = 1 << 17,
  TVM_PULP_DMA_INCREMENT = 1 << 18,
  TVM_PULP_DMA_2D = 1 << 19,
  TVM_PULP_DMA_EVENT = 1 << 20,
  /* One command moves up to 2^17 - 1 bytes; this is the largest multiple of a 256-byte burst below it. */
  TVM_PULP_DMA_LARGEST = 0x1FF00
};

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
