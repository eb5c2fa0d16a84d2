/* SPDX-License-Identifier: Apache-2.0
 *
 * The only core is core 0, issues jobs and never waits for others. */
#ifndef TVM_PULP_CORE_H
#define TVM_PULP_CORE_H

#include <stdint.h>

#include "tvm_pulp/mcu.h"

#ifndef TVM_PULP_CORES
#define TVM_PULP_CORES 1
#endif
#if TVM_PULP_CORES != 1
#error "TVM_PULP_CORES must be 1"
#endif

/* A memory-mapped register. */
#define TVM_PULP_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

static inline uint32_t tvm_pulp_core_id(void) { return 0; }
static inline int tvm_pulp_is_agent(void) { return 1; }
static inline void tvm_pulp_barrier(void) { __asm__ volatile("" ::: "memory"); }

#endif /* TVM_PULP_CORE_H */
