/* SPDX-License-Identifier: Apache-2.0 */
#include "run_state.h"

void tvm_pulp_put(uint32_t character) { TVM_PULP_REGISTER(SIRACUSA_STDOUT) = character; }
