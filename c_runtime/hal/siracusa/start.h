/* SPDX-License-Identifier: Apache-2.0
 *
 * Entered from start.S, and what controller and cluster tell each other. */
#ifndef TVM_PULP_START_H
#define TVM_PULP_START_H

#include "run_state.h"

_Noreturn void tvm_pulp_controller_main(void);
_Noreturn void tvm_pulp_cluster_main(uint32_t core);
void _start(void);

/* 0 while the cluster runs, then 1 + exit code. */
extern volatile uint32_t tvm_pulp_cluster_result;

#endif /* TVM_PULP_START_H */
