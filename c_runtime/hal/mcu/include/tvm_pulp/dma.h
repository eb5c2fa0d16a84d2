/* SPDX-License-Identifier: Apache-2.0
 *
 * Transfers between L1 and other memory. There is no DMA: the core copies, and what was asked for is over at once. */
#ifndef TVM_PULP_DMA_H
#define TVM_PULP_DMA_H

#include <stdint.h>

#include "tvm_pulp/core.h"

/* Bytes from anywhere to anywhere else, words at a time where both are aligned. */
void tvm_pulp_copy(void *to, const void *from, uint32_t bytes);

static inline uint32_t tvm_pulp_dma_begin(void) { return 0; }
static inline void tvm_pulp_dma_wait(uint32_t group) { (void)group; }
static inline void tvm_pulp_dma_wait_for(uint32_t transfer) { (void)transfer; }

static inline uint32_t tvm_pulp_dma_copy(uint32_t target, uint32_t source, uint32_t bytes) {
  tvm_pulp_copy((void *)(uintptr_t)target, (const void *)(uintptr_t)source, bytes);
  return 0;
}

uint32_t tvm_pulp_dma_copy_2d(uint32_t target, uint32_t source, uint32_t bytes, uint32_t line_bytes,
                              uint32_t target_stride, uint32_t source_stride);

#define TVM_PULP_DMA_LINES 1
#define TVM_PULP_DMA_IS_AT_ONCE 1
#include "tvm_pulp/copies.h"

#endif /* TVM_PULP_DMA_H */
