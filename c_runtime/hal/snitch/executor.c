/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/executor.h"

TVM_PULP_DEFINE_EXECUTOR_MAGIC(TVM_PULP_EXECUTOR_MAGIC);

/* What the DMA core has under way. */
struct agent {
  uint32_t groups[TVM_PULP_GROUPS]; /* the last transfer of each */
  uint32_t tickets[TVM_PULP_TICKETS];
};

static inline uint32_t transfer(uint32_t head, const uint32_t *word, uint32_t external) {
  const uint32_t l1 = word[0], bytes = head & 0xFFFFFu;
  const int is_load = (head & TVM_PULP_LOAD) != 0u;
  const uint32_t target = is_load ? l1 : external, source = is_load ? external : l1;
  if (head >> 29 == TVM_PULP_COMMAND_1D) return tvm_pulp_dma_copy(target, source, bytes);
  const uint32_t line = word[2], stride = word[3];
  return tvm_pulp_dma_copy_2d(target, source, line, is_load ? line : stride, is_load ? stride : line, bytes / line);
}

static inline void issue(const uint32_t *word, const uint32_t *bases, struct agent *agent) {
  uint32_t group = 0;
  __asm__ volatile("" ::: "memory");
  for (;;) {
    const uint32_t head = *word++;
    const uint32_t code = head >> 29;
    if (code <= TVM_PULP_COMMAND_2D) {
      const uint32_t base = head >> 21 & 0xFFu;
      agent->groups[group] = transfer(head, word, base != 0u ? word[1] + bases[base - 1u] : word[1]);
      word += 2u + 2u * code;
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

static void command(const struct tvm_pulp_step *step, const uint32_t *bases, tvm_pulp_wait wait_for_job) {
  struct agent agent;
  while (step != 0) {
    const uint32_t words = step->commands & 0xFFu, control = step->control;
    if (words != 0u) issue((const uint32_t *)step + words, bases, &agent);
    /* The record may be overwritten behind the barrier. */
    const struct tvm_pulp_step *next = step->next;
    const uint32_t groups = step->waits, tickets = control >> 8 & 0xFFu;
    for (uint32_t number = 0; groups >> number != 0u; number++) {
      if (groups >> number & 1u) tvm_pulp_dma_wait_for(agent.groups[number]);
    }
    for (uint32_t number = 0; tickets >> number != 0u; number++) {
      if (tickets >> number & 1u) wait_for_job(agent.tickets[number], number);
    }
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
