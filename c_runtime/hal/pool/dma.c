/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/dma.h"

enum { ROOM = 32 };

/* Transfers that wait, a ring; all but the first few words of the runtime's part of L1. */
static struct {
  uint32_t commanded, started; /* how many; the newest that was started may be under way */
  struct {
    uint32_t target, source, bytes;
  } waiting[ROOM];
} queue __attribute__((section(".bss..transfers")));

void tvm_pulp_dma_reset(void) { queue.commanded = queue.started = 0; }

static inline int is_over(void) { return queue.started == 0u || TVM_PULP_REGISTER(POOL_DMA_DONE) != 0u; }

void tvm_pulp_dma_go_on(void) {
  if (queue.started == queue.commanded || !is_over()) return;
  const uint32_t next = queue.started++ % ROOM;
  TVM_PULP_REGISTER(POOL_DMA_SOURCE) = queue.waiting[next].source;
  TVM_PULP_REGISTER(POOL_DMA_TARGET) = queue.waiting[next].target;
  TVM_PULP_REGISTER(POOL_DMA_BYTES) = queue.waiting[next].bytes;
  __asm__ volatile("fence" ::: "memory");
  (void)TVM_PULP_REGISTER(POOL_DMA_START);
  __asm__ volatile("fence" ::: "memory");
}

uint32_t tvm_pulp_dma_copy(uint32_t target, uint32_t source, uint32_t bytes) {
  while (queue.commanded - queue.started == ROOM) tvm_pulp_dma_go_on();
  const uint32_t last = queue.commanded++ % ROOM;
  queue.waiting[last].target = target;
  queue.waiting[last].source = source;
  queue.waiting[last].bytes = bytes;
  tvm_pulp_dma_go_on();
  return queue.commanded;
}

void tvm_pulp_dma_wait(uint32_t group) {
  (void)group;
  tvm_pulp_dma_wait_for(queue.commanded);
}

void tvm_pulp_dma_wait_for(uint32_t number) {
  while ((int32_t)(queue.started - number) < 0) tvm_pulp_dma_go_on();
  while (queue.started == number && !is_over()) {
  }
}
