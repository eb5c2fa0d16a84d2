/* SPDX-License-Identifier: Apache-2.0
 *
 * Where data lies. Plain C data is in the memory that is called L2: constants as they are, variables with initial
 * values, zeroed variables. A chip with more memories says in its own header how to reach them. */
#ifndef TVM_PULP_PLACEMENT_H
#define TVM_PULP_PLACEMENT_H

#include <stdint.h>

#include "tvm_pulp/core.h"
#include "tvm_pulp/profile.h"

/* Variables without initial value: undefined at start. Inputs must be TVM_PULP_IN_L2: the host writes them before
 * the program starts, and start code clears ordinary variables. */
#ifndef TVM_PULP_IN_L1
#define TVM_PULP_IN_L1 __attribute__((section(".bss..l1")))
#endif
#define TVM_PULP_IN_L2 __attribute__((section(".bss..l2")))
/* Functions whose code lies behind all other code: what they add moves nothing that others run. */
#ifndef TVM_PULP_LATER
#define TVM_PULP_LATER __attribute__((section(".later")))
#endif

/* The part of L1 that is left over, aligned to a round of all banks, with undefined contents at every entry into the
 * network. The address of the second symbol is the size in bytes. */
extern uint8_t tvm_pulp_l1_arena[];
extern uint8_t tvm_pulp_l1_arena_bytes[];

/* The same size as a constant expression, for a program that puts nothing else into L1. */
#ifndef TVM_PULP_RUNTIME_L1_BYTES
#define TVM_PULP_RUNTIME_L1_BYTES 0
#endif
#define TVM_PULP_L1_ARENA_BYTES                                                                \
  (TVM_PULP_L1_BYTES - TVM_PULP_HARTS * TVM_PULP_STACK_BYTES - TVM_PULP_RUNTIME_L1_BYTES - (4 * TVM_PULP_MARKS + 63) / 64 * 64)

#endif /* TVM_PULP_PLACEMENT_H */
