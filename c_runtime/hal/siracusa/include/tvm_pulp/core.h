/* SPDX-License-Identifier: Apache-2.0
 *
 * Who am I. */
#ifndef TVM_PULP_CORE_H
#define TVM_PULP_CORE_H

#include <stdint.h>

#include "tvm_pulp/siracusa.h"
#include "tvm_pulp/team.h"

/* 0 to TVM_PULP_CORES - 1. */
static inline uint32_t tvm_pulp_core_id(void) { return tvm_pulp_hart() & SIRACUSA_HART_CORE_MASK; }

/* Whether this core issues jobs, and transfers where no other core does. */
static inline int tvm_pulp_is_agent(void) { return tvm_pulp_core_id() == 0u; }

#endif /* TVM_PULP_CORE_H */
