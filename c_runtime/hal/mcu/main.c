/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the inferences, keeps the time and ends the run. */
#include "start.h"

void tvm_pulp_main(void) {
  tvm_pulp_print_table();
  const enum tvm_pulp_exit result = tvm_pulp_run_inferences(0);
  tvm_pulp_print_contents();
  volatile const uint32_t argument[2] = {TVM_PULP_HOST_EXIT_REASON, result};
  tvm_pulp_semihosting(TVM_PULP_HOST_EXIT, (uint32_t)(uintptr_t)argument);
  for (;;) {
  }
}
