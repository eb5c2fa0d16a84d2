/* SPDX-License-Identifier: Apache-2.0
 *
 * L3: transfers between L2 and the HyperRAM through the I/O DMA, which runs them in order. Core 0 only; a register
 * access takes 23 cycles from the cluster. The buffers are not in use by the engine after tvm_pulp_l3_wait. */
#ifndef TVM_PULP_HYPERBUS_H
#define TVM_PULP_HYPERBUS_H

#include <stdint.h>

#include "tvm_pulp/event_unit.h"

enum {
  TVM_PULP_L3_RX = 0x00, /* L2 address, size, configuration */
  TVM_PULP_L3_TX = 0x0C,
  TVM_PULP_L3_COMMAND = 0x18,
  TVM_PULP_L3_EXTERNAL = 0x1C,
  TVM_PULP_L3_STATUS = 0x24,
  TVM_PULP_L3_LINEAR_BURST = 1,
  TVM_PULP_L3_READ = 4,
  TVM_PULP_L3_ENABLE = 1 << 4,
  TVM_PULP_L3_QUEUE = 4 /* transfers that may wait for the bus */
};

static inline uint32_t tvm_pulp_l3_status(void) { return TVM_PULP_REGISTER(SIRACUSA_HYPERBUS + TVM_PULP_L3_STATUS); }

/* Bit 0 busy, bits 8:1 transfers in the queue. */
static inline void tvm_pulp_l3_wait(void) {
  while ((tvm_pulp_l3_status() & 0x1FFu) != 0u) {
  }
  __asm__ volatile("" ::: "memory");
}

static inline void tvm_pulp_l3_start(uint32_t channel, uint32_t command, uint32_t l2, uint32_t l3_offset,
                                     uint32_t bytes) {
  while ((tvm_pulp_l3_status() >> 1 & 0xFFu) >= TVM_PULP_L3_QUEUE) {
  }
  __asm__ volatile("" ::: "memory");
  TVM_PULP_REGISTER(SIRACUSA_HYPERBUS + TVM_PULP_L3_COMMAND) = command;
  TVM_PULP_REGISTER(SIRACUSA_HYPERBUS + TVM_PULP_L3_EXTERNAL) = l3_offset;
  TVM_PULP_REGISTER(SIRACUSA_HYPERBUS + channel) = l2;
  TVM_PULP_REGISTER(SIRACUSA_HYPERBUS + channel + 4) = bytes;
  TVM_PULP_REGISTER(SIRACUSA_HYPERBUS + channel + 8) = TVM_PULP_L3_ENABLE;
}

static inline void tvm_pulp_l3_load(void *l2, uint32_t l3_offset, uint32_t bytes) {
  tvm_pulp_l3_start(TVM_PULP_L3_RX, TVM_PULP_L3_LINEAR_BURST | TVM_PULP_L3_READ, (uint32_t)(uintptr_t)l2, l3_offset,
                    bytes);
}

static inline void tvm_pulp_l3_store(uint32_t l3_offset, const void *l2, uint32_t bytes) {
  tvm_pulp_l3_start(TVM_PULP_L3_TX, TVM_PULP_L3_LINEAR_BURST, (uint32_t)(uintptr_t)l2, l3_offset, bytes);
}

#endif /* TVM_PULP_HYPERBUS_H */
