/* SPDX-License-Identifier: Apache-2.0
 *
 * Who am I, and barriers. */
#ifndef TVM_PULP_CORE_H
#define TVM_PULP_CORE_H

#include <stdint.h>

#include "tvm_pulp/snitch.h"
#include "tvm_pulp/team.h"

/* 0 to TVM_PULP_CORES - 1 for cores that compute. */
static inline uint32_t tvm_pulp_core_id(void) { return tvm_pulp_hart(); }

/* Whether this core issues transfers and jobs. */
static inline int tvm_pulp_is_agent(void) { return tvm_pulp_core_id() == TVM_PULP_DMA_CORE; }

/* Return on all cores when all cores have arrived, those without work too. Memory is coherent afterwards. */
static inline void tvm_pulp_barrier(void) {
  __asm__ volatile("fence\n\tcsrr x0, %0" : : "i"(SNITCH_BARRIER) : "memory");
}

#endif /* TVM_PULP_CORE_H */
