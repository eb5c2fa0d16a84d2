/* SPDX-License-Identifier: Apache-2.0
 *
 * Entered from start.S by all cores, and the words through which the host is spoken to. */
#ifndef TVM_PULP_START_H
#define TVM_PULP_START_H

#include "run_state.h"

_Noreturn void tvm_pulp_cluster_main(uint32_t core);

/* (code << 1) | 1 ends the run, else the address of a call. The host answers a call through the second. */
extern volatile uint64_t tohost, fromhost;

#endif /* TVM_PULP_START_H */
