/* SPDX-License-Identifier: Apache-2.0
 *
 * Who am I, how many cores take part, and access to registers. */
#ifndef TVM_PULP_TEAM_H
#define TVM_PULP_TEAM_H

#include <stdint.h>

#ifndef TVM_PULP_CORES
#define TVM_PULP_CORES TVM_PULP_HARDWARE_CORES
#endif
#if TVM_PULP_CORES < 1 || TVM_PULP_CORES > TVM_PULP_HARDWARE_CORES
#error "TVM_PULP_CORES must be 1 to TVM_PULP_HARDWARE_CORES"
#endif

/* The statement is not volatile: the answer never changes, so the compiler may keep it. */
static inline uint32_t tvm_pulp_hart(void) {
  uint32_t hart;
  __asm__("csrr %0, mhartid" : "=r"(hart));
  return hart;
}

/* Teams are numbered as the nodes of a binary tree: 1 all cores, 2 and 3 its halves, 4 to 7 its quarters. How many
 * teams of this size there are. */
static inline uint32_t tvm_pulp_team_parts(uint32_t team) { return team >= 4u ? 4u : team >= 2u ? 2u : 1u; }

/* A memory-mapped register. */
#define TVM_PULP_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#endif /* TVM_PULP_TEAM_H */
