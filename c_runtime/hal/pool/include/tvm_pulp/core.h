/* SPDX-License-Identifier: Apache-2.0
 *
 * Who am I, and barriers. */
#ifndef TVM_PULP_CORE_H
#define TVM_PULP_CORE_H

#include <stdint.h>

#include "tvm_pulp/pool.h"
#include "tvm_pulp/team.h"

/* 0 to TVM_PULP_CORES - 1 for cores that compute. */
static inline uint32_t tvm_pulp_core_id(void) { return tvm_pulp_hart(); }

/* Whether this core issues transfers and jobs; it computes, too. */
static inline int tvm_pulp_is_agent(void) { return tvm_pulp_core_id() == 0u; }

/* Return on all cores when all cores have arrived, those without work too. Memory is coherent afterwards. */
void tvm_pulp_barrier(void);
/* The same among the cores of a team that is not all of them; others pass. */
void tvm_pulp_meet(uint32_t team);
/* Before anyone arrives. */
void tvm_pulp_clear_barrier(void);

#endif /* TVM_PULP_CORE_H */
