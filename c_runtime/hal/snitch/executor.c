/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/executor.h"

#include "copying_agent.h"

TVM_PULP_DEFINE_EXECUTOR_MAGIC(TVM_PULP_EXECUTOR_MAGIC);

static void command(const struct tvm_pulp_step *step, const uint32_t *bases, tvm_pulp_wait wait_for_job) {
  struct agent agent;
  while (step != 0) {
    const uint32_t words = step->commands & 0xFFu, control = step->control;
    if (words != 0u) {
      __asm__ volatile("" ::: "memory");
      issue((const uint32_t *)step + words, bases, &agent);
    }
    /* The record may be overwritten behind the barrier. */
    const struct tvm_pulp_step *next = step->next;
    const uint32_t groups = step->waits, tickets = control >> 8 & 0xFFu;
    wait(groups, tickets, &agent, wait_for_job);
    if (control & TVM_PULP_STEP_BARRIER) tvm_pulp_barrier();
    step = next;
  }
}

static void work(const struct tvm_pulp_step *step) {
  const uint32_t core = tvm_pulp_core_id();
  while (step != 0) {
    const uint32_t control = step->control;
    const tvm_pulp_function function = step->function;
    const struct tvm_pulp_step *next = step->next;
    if (control >> 16 != 0u) TVM_PULP_MARK((control >> 16) - 1u);
    if (function != 0 && core < TVM_PULP_CORES) function(step->arguments, core, TVM_PULP_CORES);
    if (control & TVM_PULP_STEP_BARRIER) tvm_pulp_barrier();
    step = next;
  }
}

void tvm_pulp_execute(const struct tvm_pulp_step *step, const uint32_t *bases, tvm_pulp_wait wait_for_job) {
  if (tvm_pulp_is_agent()) {
    command(step, bases, wait_for_job);
  } else {
    work(step);
  }
}
