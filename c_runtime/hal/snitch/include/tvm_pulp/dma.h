/* SPDX-License-Identifier: Apache-2.0
 *
 * DMA between L1 and external memory, commanded by instructions. The DMA core only.
 *
 *   uint32_t id = tvm_pulp_dma_begin();
 *   tvm_pulp_dma_load(tile, tensor, bytes);      any number of transfers
 *   tvm_pulp_dma_wait(id);                       all of them are over
 *
 * Sizes are at least one byte. Transfers are complete in the order of their commands. */
#ifndef TVM_PULP_DMA_H
#define TVM_PULP_DMA_H

#include <stdint.h>

#include "tvm_pulp/core.h"

enum { TVM_PULP_DMA_1D = 0, TVM_PULP_DMA_2D = 2 };

/* Xdma: opcode 0x2b. */
#define TVM_PULP_DMA_SOURCE(address) __asm__ volatile(".insn r 0x2b, 0, 0x00, x0, %0, x0" : : "r"(address))
#define TVM_PULP_DMA_TARGET(address) __asm__ volatile(".insn r 0x2b, 0, 0x01, x0, %0, x0" : : "r"(address))
#define TVM_PULP_DMA_STRIDES(source, target) \
  __asm__ volatile(".insn r 0x2b, 0, 0x06, x0, %0, %1" : : "r"(source), "r"(target))
#define TVM_PULP_DMA_ROWS(rows) __asm__ volatile(".insn r 0x2b, 0, 0x07, x0, %0, x0" : : "r"(rows))

/* Start a transfer; returns its id. What this core stored must be in memory before. */
static inline uint32_t tvm_pulp_dma_copy(uint32_t target, uint32_t source, uint32_t bytes) {
  uint32_t id;
  TVM_PULP_DMA_SOURCE(source);
  TVM_PULP_DMA_TARGET(target);
  __asm__ volatile(".insn r 0x2b, 0, 0x02, %0, %1, x0" : "=r"(id) : "r"(bytes) : "memory");
  return id;
}

static inline uint32_t tvm_pulp_dma_copy_2d(uint32_t target, uint32_t source, uint32_t bytes, uint32_t line_bytes,
                                            uint32_t target_stride, uint32_t source_stride) {
  uint32_t id;
  TVM_PULP_DMA_SOURCE(source);
  TVM_PULP_DMA_TARGET(target);
  TVM_PULP_DMA_STRIDES(source_stride, target_stride);
  TVM_PULP_DMA_ROWS(bytes / line_bytes);
  __asm__ volatile(".insn r 0x2b, 0, 0x02, %0, %1, x2" : "=r"(id) : "r"(line_bytes) : "memory");
  return id;
}

/* The id of the last transfer that is complete. */
static inline uint32_t tvm_pulp_dma_completed(void) {
  uint32_t id;
  __asm__ volatile(".insn r 0x2b, 0, 0x04, %0, x0, x0" : "=r"(id) : : "memory");
  return id;
}

/* Wait until a transfer is complete, and with it all before it. */
static inline void tvm_pulp_dma_wait_for(uint32_t id) {
  while ((int32_t)(tvm_pulp_dma_completed() - id) < 0) {
  }
}

static inline uint32_t tvm_pulp_dma_begin(void) {
  __asm__ volatile("fence" ::: "memory");
  return 0;
}

/* Transfers of all groups are over. */
static inline void tvm_pulp_dma_wait(uint32_t group) {
  uint32_t busy = group;
  do {
    __asm__ volatile(".insn r 0x2b, 0, 0x04, %0, x0, x2" : "=r"(busy) : : "memory");
  } while (busy != 0u);
}

#define TVM_PULP_DMA_LINES 1
#define TVM_PULP_DMA_IS_AT_ONCE 0
#include "tvm_pulp/copies.h"

#endif /* TVM_PULP_DMA_H */
