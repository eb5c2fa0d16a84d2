/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/executor.h"

#include "copying_agent.h"

TVM_PULP_DEFINE_EXECUTOR_MAGIC(TVM_PULP_EXECUTOR_MAGIC);

void tvm_pulp_execute(const struct tvm_pulp_step *step, const uint32_t *bases, tvm_pulp_wait wait_for_job) {
  struct agent agent;
  while (step != 0) {
    const uint32_t words = step->commands & 0xFFu, control = step->control;
    if (control >> 16 != 0u) TVM_PULP_MARK((control >> 16) - 1u);
    if (words != 0u) issue((const uint32_t *)step + words, bases, &agent);
    if (step->function != 0) step->function(step->arguments, 0, 1);
    /* Transfers are over at once. */
    wait(0, control >> 8 & 0xFFu, &agent, wait_for_job);
    step = step->next;
  }
}
