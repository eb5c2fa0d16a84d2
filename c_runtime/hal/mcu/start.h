/* SPDX-License-Identifier: Apache-2.0
 *
 * Entered from start.S, and how it asks the host. */
#ifndef TVM_PULP_START_H
#define TVM_PULP_START_H

#include "run_state.h"

_Noreturn void tvm_pulp_main(void);

enum {
  TVM_PULP_HOST_WRITE_TEXT = 0x04,
  TVM_PULP_HOST_EXIT_WITHOUT_CODE = 0x18,
  TVM_PULP_HOST_EXIT = 0x20,
  TVM_PULP_HOST_EXIT_REASON = 0x20026
};
uint32_t tvm_pulp_semihosting(uint32_t operation, uint32_t argument);

#endif /* TVM_PULP_START_H */
