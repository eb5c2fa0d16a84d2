/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/executor.h"

#include "copying_agent.h"
#include "tvm_pulp/placement.h"

TVM_PULP_DEFINE_EXECUTOR_MAGIC(TVM_PULP_EXECUTOR_MAGIC);

static void command(const struct tvm_pulp_step *step, const uint32_t *bases, struct agent *agent) {
  const uint32_t words = step->commands & 0xFFu;
  if (words != 0u) {
    __asm__ volatile("fence" ::: "memory");
    issue((const uint32_t *)step + words, bases, agent);
  }
  tvm_pulp_dma_go_on();
}

/* A kernel on the cores of a team, which count from the first of them. Rare, so that it stays out of the way. */
TVM_PULP_LATER static __attribute__((noinline)) void run_on_team(tvm_pulp_function function, const void *arguments,
                                                                 uint32_t core, uint32_t team) {
  const uint32_t parts = tvm_pulp_team_parts(team), cores = TVM_PULP_CORES / parts, first = (team - parts) * cores;
  if (core - first < cores) function(arguments, core - first, cores);
}

void tvm_pulp_execute(const struct tvm_pulp_step *step, const uint32_t *bases, tvm_pulp_wait wait_for_job) {
  const uint32_t core = tvm_pulp_core_id();
  struct agent agent;
  while (step != 0) {
    const uint32_t control = step->control;
    const tvm_pulp_function function = step->function;
    /* The record may be overwritten behind the barrier. */
    const struct tvm_pulp_step *next = step->next;
    if (control >> 16 != 0u) TVM_PULP_MARK((control >> 16) - 1u);
    const uint32_t groups = core == 0u ? step->waits : 0u;
    if (core == 0u) command(step, bases, &agent);
    if (function != 0) {
      if (TVM_PULP_TEAM_OF(control) != 0u) run_on_team(function, step->arguments, core, TVM_PULP_TEAM_OF(control));
      else if (core < TVM_PULP_CORES) function(step->arguments, core, TVM_PULP_CORES);
    }
    if (core == 0u) {
      tvm_pulp_dma_go_on();
      wait(groups & 0xFFu, control >> 8 & 0xFFu, &agent, wait_for_job);
    }
    if (TVM_PULP_MEETING_OF(control) == TVM_PULP_STEP_BARRIER) tvm_pulp_barrier();
    else if (TVM_PULP_MEETING_OF(control) != 0u) tvm_pulp_meet(TVM_PULP_MEETING_OF(control));
    step = next;
  }
}
