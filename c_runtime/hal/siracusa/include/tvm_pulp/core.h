/* SPDX-License-Identifier: Apache-2.0
 *
 * Who am I. */
#ifndef TVM_PULP_CORE_H
#define TVM_PULP_CORE_H

#include <stdint.h>

#include "tvm_pulp/siracusa.h"
#include "tvm_pulp/team.h"

/* 0 to TVM_PULP_CORES - 1. The statement is not volatile: the answer never changes, so the compiler may keep it. */
static inline uint32_t tvm_pulp_core_id(void) {
  uint32_t hart;
  __asm__("csrr %0, mhartid" : "=r"(hart));
  return hart & SIRACUSA_HART_CORE_MASK;
}

/* Whether this core issues jobs, and transfers where no other core does. */
static inline int tvm_pulp_is_agent(void) { return tvm_pulp_core_id() == 0u; }

#endif /* TVM_PULP_CORE_H */
