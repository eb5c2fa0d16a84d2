/* SPDX-License-Identifier: Apache-2.0
 *
 * Cluster DMA: transfers between L1 and L2 or the weight memory. Core 0 only.
 *
 *   uint32_t id = tvm_pulp_dma_begin();
 *   tvm_pulp_dma_load(tile, tensor, bytes);      any number of transfers; they belong to the newest begin
 *   tvm_pulp_dma_wait(id);
 *
 * Up to 16 begun ids may wait; each needs its tvm_pulp_dma_wait. Sizes are at least one byte. */
#ifndef TVM_PULP_DMA_H
#define TVM_PULP_DMA_H

#include <stdint.h>

#include "tvm_pulp/dma_port.h"

/* Heads of commands: bytes, up to TVM_PULP_DMA_LARGEST, and these. */
enum {
  TVM_PULP_DMA_TO_L1 = 1 << 17,
  TVM_PULP_DMA_INCREMENT = 1 << 18,
  TVM_PULP_DMA_2D = 1 << 19,
  TVM_PULP_DMA_EVENT = 1 << 20,
  /* One command moves up to 2^17 - 1 bytes; this is the largest multiple of a 256-byte burst below it. */
  TVM_PULP_DMA_LARGEST = 0x1FF00
};

static inline void tvm_pulp_dma_1d(uint32_t flags, uint32_t l1, uint32_t external, uint32_t bytes) {
  /* What this core stored must be in memory before the DMA reads it. */
  __asm__ volatile("" ::: "memory");
  for (; bytes > TVM_PULP_DMA_LARGEST; bytes -= TVM_PULP_DMA_LARGEST) {
    tvm_pulp_dma_command(flags | TVM_PULP_DMA_INCREMENT | TVM_PULP_DMA_EVENT | TVM_PULP_DMA_LARGEST, l1, external, 0, 0);
    l1 += TVM_PULP_DMA_LARGEST;
    external += TVM_PULP_DMA_LARGEST;
  }
  tvm_pulp_dma_command(flags | TVM_PULP_DMA_INCREMENT | TVM_PULP_DMA_EVENT | bytes, l1, external, 0, 0);
}

static inline void tvm_pulp_dma_command_2d(uint32_t flags, uint32_t l1, uint32_t external, uint32_t bytes,
                                           uint32_t line_bytes, uint32_t stride) {
  const uint32_t lines[] = {line_bytes, stride};
  const uint32_t head = flags | TVM_PULP_DMA_2D | TVM_PULP_DMA_INCREMENT | TVM_PULP_DMA_EVENT | bytes;
  tvm_pulp_dma_command(head, l1, external, 1, lines);
}

/* More bytes than one command takes: as many whole lines as fit at a time. Rare, hence not inlined. */
__attribute__((noinline, unused)) static void tvm_pulp_dma_2d_split(uint32_t flags, uint32_t l1, uint32_t external,
                                                                    uint32_t bytes, uint32_t line_bytes,
                                                                    uint32_t stride) {
  const uint32_t lines = TVM_PULP_DMA_LARGEST / line_bytes;
  const uint32_t step = lines != 0u ? lines * line_bytes : line_bytes;
  const uint32_t external_step = lines != 0u ? lines * stride : stride;
  for (; bytes != 0u; l1 += step, external += external_step) {
    const uint32_t part = bytes < step ? bytes : step;
    if (lines != 0u) {
      tvm_pulp_dma_command_2d(flags, l1, external, part, line_bytes, stride);
    } else {
      tvm_pulp_dma_1d(flags, l1, external, part);
    }
    bytes -= part;
  }
}

static inline void tvm_pulp_dma_2d(uint32_t flags, uint32_t l1, uint32_t external, uint32_t bytes, uint32_t line_bytes,
                                   uint32_t stride) {
  __asm__ volatile("" ::: "memory");
  if (bytes > TVM_PULP_DMA_LARGEST) {
    tvm_pulp_dma_2d_split(flags, l1, external, bytes, line_bytes, stride);
  } else {
    tvm_pulp_dma_command_2d(flags, l1, external, bytes, line_bytes, stride);
  }
}

static inline void tvm_pulp_dma_load(void *l1, const void *external, uint32_t bytes) {
  tvm_pulp_dma_1d(TVM_PULP_DMA_TO_L1, (uint32_t)(uintptr_t)l1, (uint32_t)(uintptr_t)external, bytes);
}

static inline void tvm_pulp_dma_store(void *external, const void *l1, uint32_t bytes) {
  tvm_pulp_dma_1d(0, (uint32_t)(uintptr_t)l1, (uint32_t)(uintptr_t)external, bytes);
}

/* `bytes` in all, dense in L1; outside, lines of `line_bytes` whose starts are `stride` bytes apart. */
static inline void tvm_pulp_dma_load_2d(void *l1, const void *external, uint32_t bytes, uint32_t line_bytes,
                                        uint32_t stride) {
  tvm_pulp_dma_2d(TVM_PULP_DMA_TO_L1, (uint32_t)(uintptr_t)l1, (uint32_t)(uintptr_t)external, bytes, line_bytes,
                  stride);
}

static inline void tvm_pulp_dma_store_2d(void *external, const void *l1, uint32_t bytes, uint32_t line_bytes,
                                         uint32_t stride) {
  tvm_pulp_dma_2d(0, (uint32_t)(uintptr_t)l1, (uint32_t)(uintptr_t)external, bytes, line_bytes, stride);
}

#endif /* TVM_PULP_DMA_H */
