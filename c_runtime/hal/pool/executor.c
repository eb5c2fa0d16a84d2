/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/executor.h"

#include "tvm_pulp/placement.h"

TVM_PULP_DEFINE_EXECUTOR_MAGIC(TVM_PULP_EXECUTOR_MAGIC);

/* What core 0 has under way. */
struct agent {
  uint32_t groups[TVM_PULP_GROUPS]; /* the last transfer of each */
  uint32_t tickets[TVM_PULP_TICKETS];
};

static uint32_t transfer(uint32_t head, uint32_t l1, uint32_t external) {
  const uint32_t bytes = head & 0xFFFFFu;
  return (head & TVM_PULP_LOAD) != 0u ? tvm_pulp_dma_copy(l1, external, bytes) : tvm_pulp_dma_copy(external, l1, bytes);
}

static void issue(const uint32_t *word, const uint32_t *bases, struct agent *agent) {
  uint32_t group = 0;
  __asm__ volatile("fence" ::: "memory");
  for (;;) {
    const uint32_t head = *word++;
    const uint32_t code = head >> 29;
    if (code == TVM_PULP_COMMAND_1D) {
      const uint32_t base = head >> 21 & 0xFFu;
      agent->groups[group] = transfer(head, word[0], base != 0u ? word[1] + bases[base - 1u] : word[1]);
      word += 2;
    } else if (code == TVM_PULP_COMMAND_BEGIN) {
      group = head & 0xFFu;
    } else if (code == TVM_PULP_COMMAND_SUBMIT) {
      agent->tickets[head & 0xFFu] = ((tvm_pulp_submit)(uintptr_t)word[0])((const void *)(uintptr_t)word[1]);
      word += 2;
    } else if (code == TVM_PULP_COMMAND_ROWS) {
      const uint32_t bytes = tvm_pulp_row_bytes(word[1], bases, head & 0xFFFFFu);
      agent->groups[group] = tvm_pulp_dma_copy(word[0], bases[(head >> 21 & 0xFFu) - 1u], bytes);
      word += 2;
    } else {
      return;
    }
  }
}

static void command(const struct tvm_pulp_step *step, const uint32_t *bases, struct agent *agent) {
  const uint32_t words = step->commands & 0xFFu;
  if (words != 0u) issue((const uint32_t *)step + words, bases, agent);
  tvm_pulp_dma_go_on();
}

static void wait(uint32_t groups, uint32_t tickets, const struct agent *agent, tvm_pulp_wait wait_for_job) {
  tvm_pulp_dma_go_on();
  for (uint32_t number = 0; groups >> number != 0u; number++) {
    if (groups >> number & 1u) tvm_pulp_dma_wait_for(agent->groups[number]);
  }
  for (uint32_t number = 0; tickets >> number != 0u; number++) {
    if (tickets >> number & 1u) wait_for_job(agent->tickets[number], number);
  }
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
    if (core == 0u) wait(groups & 0xFFu, control >> 8 & 0xFFu, &agent, wait_for_job);
    if (TVM_PULP_MEETING_OF(control) == TVM_PULP_STEP_BARRIER) tvm_pulp_barrier();
    else if (TVM_PULP_MEETING_OF(control) != 0u) tvm_pulp_meet(TVM_PULP_MEETING_OF(control));
    step = next;
  }
}
