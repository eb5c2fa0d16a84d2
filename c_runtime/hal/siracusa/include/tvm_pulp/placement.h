/* SPDX-License-Identifier: Apache-2.0
 *
 * Where data lies. Plain C data is in L2: constants as they are, variables with initial values, zeroed variables. */
#ifndef TVM_PULP_PLACEMENT_H
#define TVM_PULP_PLACEMENT_H

#include <stdint.h>

#include "tvm_pulp/profile.h"
#include "tvm_pulp/siracusa.h"

/* Variables without initial value: undefined at start. Inputs must be TVM_PULP_IN_L2: the host writes them before
 * the program starts, and start code clears ordinary variables. */
#define TVM_PULP_IN_L1 __attribute__((section(".bss..l1")))
/* The same for the few words that drivers remember, at most 16 bytes in all: they take nothing from the arena. */
#define TVM_PULP_DRIVER_IN_L1 __attribute__((section(".bss..l1_driver")))
#define TVM_PULP_IN_L2 __attribute__((section(".bss..l2")))

/* Constants, and constants only, in the weight memory. The accelerator counts its addresses from 0 there. */
#define TVM_PULP_IN_WEIGHT_MRAM __attribute__((section(".weight_mram")))
#define TVM_PULP_IN_WEIGHT_SRAM __attribute__((section(".weight_sram")))
#ifndef TVM_PULP_WEIGHT_BASE
#define TVM_PULP_WEIGHT_BASE 0x10400000u
#endif
#define TVM_PULP_WEIGHT_OFFSET(pointer) ((uint32_t)(uintptr_t)(pointer) - TVM_PULP_WEIGHT_BASE)

/* The part of L1 that is left over, aligned to a round of all 16 banks, with undefined contents at every entry into the
 * network. The address of the second symbol is the size in bytes. */
extern uint8_t tvm_pulp_l1_arena[];
extern uint8_t tvm_pulp_l1_arena_bytes[];

/* The same size as a constant expression, for a program that puts nothing else into L1. */
#define TVM_PULP_L1_ARENA_BYTES                                                                              \
  (TVM_PULP_L1_BYTES - TVM_PULP_HARDWARE_CORES * TVM_PULP_STACK_BYTES - (4 * TVM_PULP_MARKS + 63) / 64 * 64)

#endif /* TVM_PULP_PLACEMENT_H */
