/* SPDX-License-Identifier: Apache-2.0
 *
 * The only core is core 0, issues jobs and never waits for others. */
#ifndef TVM_PULP_CORE_H
#define TVM_PULP_CORE_H

#include <stdint.h>

#include "tvm_pulp/mcu.h"
#include "tvm_pulp/team.h"

#define TVM_PULP_CYCLE_COUNTER "cycle"

static inline uint32_t tvm_pulp_core_id(void) { return 0; }
static inline int tvm_pulp_is_agent(void) { return 1; }
static inline void tvm_pulp_barrier(void) { __asm__ volatile("" ::: "memory"); }

#endif /* TVM_PULP_CORE_H */
