/* SPDX-License-Identifier: Apache-2.0
 *
 * Transfers between L1 and other memory. There is no DMA: the core copies, and what was asked for is over at once. */
#ifndef TVM_PULP_DMA_H
#define TVM_PULP_DMA_H

#include <stdint.h>

#include "tvm_pulp/core.h"

/* Bytes from anywhere to anywhere else, words at a time where both are aligned. */
void tvm_pulp_copy(void *to, const void *from, uint32_t bytes);
/* Lines of `line_bytes` whose starts are so many bytes apart. */
void tvm_pulp_copy_lines(void *to, const void *from, uint32_t bytes, uint32_t line_bytes, uint32_t to_stride,
                         uint32_t from_stride);

static inline uint32_t tvm_pulp_dma_begin(void) { return 0; }
static inline void tvm_pulp_dma_wait(uint32_t group) { (void)group; }

static inline void tvm_pulp_dma_load(void *l1, const void *external, uint32_t bytes) {
  tvm_pulp_copy(l1, external, bytes);
}

static inline void tvm_pulp_dma_store(void *external, const void *l1, uint32_t bytes) {
  tvm_pulp_copy(external, l1, bytes);
}

/* `bytes` in all, dense in L1; outside, lines of `line_bytes` whose starts are `stride` bytes apart. */
static inline void tvm_pulp_dma_load_2d(void *l1, const void *external, uint32_t bytes, uint32_t line_bytes,
                                        uint32_t stride) {
  tvm_pulp_copy_lines(l1, external, bytes, line_bytes, line_bytes, stride);
}

static inline void tvm_pulp_dma_store_2d(void *external, const void *l1, uint32_t bytes, uint32_t line_bytes,
                                         uint32_t stride) {
  tvm_pulp_copy_lines(external, l1, bytes, line_bytes, stride, line_bytes);
}

#endif /* TVM_PULP_DMA_H */
