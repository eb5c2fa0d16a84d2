/* SPDX-License-Identifier: Apache-2.0
 *
 * Transfers by address, where a DMA, or a core in its place, copies from anywhere to anywhere else. The platform's
 * dma.h includes this header behind its own
 *   uint32_t tvm_pulp_dma_copy(uint32_t target, uint32_t source, uint32_t bytes)
 *   uint32_t tvm_pulp_dma_copy_2d(uint32_t target, uint32_t source, uint32_t bytes, uint32_t line_bytes,
 *                                 uint32_t target_stride, uint32_t source_stride)   unless TVM_PULP_DMA_LINES is 0
 * which return what tvm_pulp_dma_wait_for takes, or anything where TVM_PULP_DMA_IS_AT_ONCE. */
#ifndef TVM_PULP_COPIES_H
#define TVM_PULP_COPIES_H

#include <stdint.h>

#include "tvm_pulp/step_record.h"

/* Heads of transfers; generated records add size and base. */
enum {
  TVM_PULP_STORE = 0,
  TVM_PULP_LOAD = 1 << 20,
  TVM_PULP_STORE_LINES = TVM_PULP_COMMAND_2D << 29 | TVM_PULP_STORE,
  TVM_PULP_LOAD_LINES = TVM_PULP_COMMAND_2D << 29 | TVM_PULP_LOAD
};

static inline void tvm_pulp_dma_load(void *l1, const void *external, uint32_t bytes) {
  (void)tvm_pulp_dma_copy((uint32_t)(uintptr_t)l1, (uint32_t)(uintptr_t)external, bytes);
}

static inline void tvm_pulp_dma_store(void *external, const void *l1, uint32_t bytes) {
  (void)tvm_pulp_dma_copy((uint32_t)(uintptr_t)external, (uint32_t)(uintptr_t)l1, bytes);
}

#if TVM_PULP_DMA_LINES
/* `bytes` in all, dense in L1; outside, lines of `line_bytes` whose starts are `stride` bytes apart. */
static inline void tvm_pulp_dma_load_2d(void *l1, const void *external, uint32_t bytes, uint32_t line_bytes,
                                        uint32_t stride) {
  (void)tvm_pulp_dma_copy_2d((uint32_t)(uintptr_t)l1, (uint32_t)(uintptr_t)external, bytes, line_bytes, line_bytes,
                             stride);
}

static inline void tvm_pulp_dma_store_2d(void *external, const void *l1, uint32_t bytes, uint32_t line_bytes,
                                         uint32_t stride) {
  (void)tvm_pulp_dma_copy_2d((uint32_t)(uintptr_t)external, (uint32_t)(uintptr_t)l1, bytes, line_bytes, stride,
                             line_bytes);
}
#endif

#endif /* TVM_PULP_COPIES_H */
