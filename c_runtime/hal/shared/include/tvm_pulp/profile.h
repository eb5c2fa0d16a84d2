/* SPDX-License-Identifier: Apache-2.0
 *
 * Time stamps inside the network. A program with n layers sets mark i before layer i and mark n after the last one;
 * then layer i took mark i + 1 less mark i. Set marks right after a barrier, so that core 0 speaks for all. */
#ifndef TVM_PULP_PROFILE_H
#define TVM_PULP_PROFILE_H

#include <stdint.h>

#include "tvm_pulp/core.h"

/* The room is taken with and without profiling, so that both builds have the same memory map. */
#ifndef TVM_PULP_MARKS
#define TVM_PULP_MARKS 256
#endif
#ifndef TVM_PULP_CYCLE_COUNTER
#define TVM_PULP_CYCLE_COUNTER "mcycle"
#endif

extern volatile uint32_t tvm_pulp_marks[TVM_PULP_MARKS];

/* Cycles of the cores' clock; the same on all of them. */
static inline uint32_t tvm_pulp_cycle(void) {
  uint32_t cycle;
  __asm__ volatile("csrr %0, " TVM_PULP_CYCLE_COUNTER : "=r"(cycle) : : "memory");
  return cycle;
}

#ifdef TVM_PULP_PROFILE
#define TVM_PULP_MARK(index)                                               \
  do {                                                                     \
    if (tvm_pulp_core_id() == 0u) tvm_pulp_marks[index] = tvm_pulp_cycle(); \
  } while (0)
#else
#define TVM_PULP_MARK(index) ((void)0)
#endif

#endif /* TVM_PULP_PROFILE_H */
