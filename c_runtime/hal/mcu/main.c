/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the inferences, keeps the time and ends the run. */
#include "start.h"

/* Hosts that do not know the call with an exit code know the one without; the code is a line of text then. */
static void end_without_code(enum tvm_pulp_exit result) {
  if (result != TVM_PULP_EXIT_OK) {
    for (const char *text = "exit "; *text != 0; text++) tvm_pulp_put((uint8_t)*text);
    tvm_pulp_put('0' + (uint32_t)result);
    tvm_pulp_put('\n');
  }
  tvm_pulp_semihosting(TVM_PULP_HOST_EXIT_WITHOUT_CODE, TVM_PULP_HOST_EXIT_REASON);
}

void tvm_pulp_main(void) {
  tvm_pulp_print_table();
  const enum tvm_pulp_exit result = tvm_pulp_run_inferences(0);
  tvm_pulp_print_contents();
  volatile const uint32_t argument[2] = {TVM_PULP_HOST_EXIT_REASON, result};
  tvm_pulp_semihosting(TVM_PULP_HOST_EXIT, (uint32_t)(uintptr_t)argument);
  end_without_code(result);
  for (;;) {
  }
}
