/* SPDX-License-Identifier: Apache-2.0
 *
 * DMA between L1 and L2. Core 0 only.
 *
 *   uint32_t id = tvm_pulp_dma_begin();
 *   tvm_pulp_dma_load(tile, tensor, bytes);      any number of transfers
 *   tvm_pulp_dma_wait(id);                       all of them are over
 *
 * The hardware makes one transfer at a time, so the others wait in a queue; it goes on whenever core 0 looks at it. */
#ifndef TVM_PULP_DMA_H
#define TVM_PULP_DMA_H

#include <stdint.h>

#include "tvm_pulp/core.h"

/* dma.c */
void tvm_pulp_dma_reset(void);
/* Returns the number of the transfer, by which it is waited for. At least one byte. */
uint32_t tvm_pulp_dma_copy(uint32_t target, uint32_t source, uint32_t bytes);
/* Start the next transfer if the one before it is over. */
void tvm_pulp_dma_go_on(void);
/* Until a transfer is over, and with it all before it. */
void tvm_pulp_dma_wait_for(uint32_t number);
/* Until all are over, those of all groups. */
void tvm_pulp_dma_wait(uint32_t group);

static inline uint32_t tvm_pulp_dma_begin(void) {
  __asm__ volatile("fence" ::: "memory");
  return 0;
}

#define TVM_PULP_DMA_LINES 0
#define TVM_PULP_DMA_IS_AT_ONCE 0
#include "tvm_pulp/copies.h"

#endif /* TVM_PULP_DMA_H */
