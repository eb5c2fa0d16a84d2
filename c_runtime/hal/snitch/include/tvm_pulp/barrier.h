/* SPDX-License-Identifier: Apache-2.0
 *
 * Who am I, and barriers. */
#ifndef TVM_PULP_BARRIER_H
#define TVM_PULP_BARRIER_H

#include <stdint.h>

#include "tvm_pulp/snitch.h"

#ifndef TVM_PULP_CORES
#define TVM_PULP_CORES TVM_PULP_HARDWARE_CORES
#endif
#if TVM_PULP_CORES < 1 || TVM_PULP_CORES > TVM_PULP_HARDWARE_CORES
#error "TVM_PULP_CORES must be 1 to TVM_PULP_HARDWARE_CORES"
#endif

/* A memory-mapped register. */
#define TVM_PULP_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

/* 0 to TVM_PULP_CORES - 1 for cores that compute. The statement is not volatile: the answer never changes. */
static inline uint32_t tvm_pulp_core_id(void) {
  uint32_t hart;
  __asm__("csrr %0, mhartid" : "=r"(hart));
  return hart;
}

/* Whether this core issues transfers and jobs. */
static inline int tvm_pulp_is_agent(void) { return tvm_pulp_core_id() == TVM_PULP_DMA_CORE; }

/* Return on all cores when all cores have arrived, those without work too. Memory is coherent afterwards. */
static inline void tvm_pulp_barrier(void) {
  __asm__ volatile("fence\n\tcsrr x0, %0" : : "i"(SNITCH_BARRIER) : "memory");
}

#endif /* TVM_PULP_BARRIER_H */
