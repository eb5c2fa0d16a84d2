/* SPDX-License-Identifier: Apache-2.0
 *
 * Entered from start.S by all cores. */
#ifndef TVM_PULP_START_H
#define TVM_PULP_START_H

#include "run_state.h"

_Noreturn void tvm_pulp_cluster_main(uint32_t core);

#endif /* TVM_PULP_START_H */
