/* SPDX-License-Identifier: Apache-2.0
 *
 * What an agent does whose transfers are those of tvm_pulp/copies.h; a part of the executor. */
#ifndef TVM_PULP_COPYING_AGENT_H
#define TVM_PULP_COPYING_AGENT_H

#include "tvm_pulp/executor.h"

/* What an agent has under way. */
struct agent {
  uint32_t groups[TVM_PULP_GROUPS]; /* the last transfer of each */
  uint32_t tickets[TVM_PULP_TICKETS];
};

static inline uint32_t transfer(uint32_t head, const uint32_t *word, uint32_t external) {
  const uint32_t l1 = word[0], bytes = head & 0xFFFFFu;
  const int is_load = (head & TVM_PULP_LOAD) != 0u;
  const uint32_t target = is_load ? l1 : external, source = is_load ? external : l1;
#if TVM_PULP_DMA_LINES
  if (head >> 29 == TVM_PULP_COMMAND_2D) {
    const uint32_t line = word[2], stride = word[3];
    return tvm_pulp_dma_copy_2d(target, source, bytes, line, is_load ? line : stride, is_load ? stride : line);
  }
#endif
  return tvm_pulp_dma_copy(target, source, bytes);
}

static inline void note(struct agent *agent, uint32_t group, uint32_t transfer) {
  if (!TVM_PULP_DMA_IS_AT_ONCE) agent->groups[group] = transfer;
}

/* What this core stored is in memory, where transfers and jobs read it. */
static inline void issue(const uint32_t *word, const uint32_t *bases, struct agent *agent) {
  uint32_t group = 0;
  for (;;) {
    const uint32_t head = *word++;
    const uint32_t code = head >> 29;
    if (code <= TVM_PULP_DMA_LINES * TVM_PULP_COMMAND_2D) {
      const uint32_t base = head >> 21 & 0xFFu;
      note(agent, group, transfer(head, word, base != 0u ? word[1] + bases[base - 1u] : word[1]));
      word += 2u + 2u * code;
    } else if (code == TVM_PULP_COMMAND_BEGIN) {
      group = head & 0xFFu;
    } else if (code == TVM_PULP_COMMAND_SUBMIT) {
      agent->tickets[head & 0xFFu] = ((tvm_pulp_submit)(uintptr_t)word[0])((const void *)(uintptr_t)word[1]);
      word += 2;
    } else if (code == TVM_PULP_COMMAND_ROWS) {
      const uint32_t bytes = tvm_pulp_row_bytes(word[1], bases, head & 0xFFFFFu);
      note(agent, group, tvm_pulp_dma_copy(word[0], bases[(head >> 21 & 0xFFu) - 1u], bytes));
      word += 2;
    } else {
      return;
    }
  }
}

/* Wait for the groups, and then for the jobs, whose bits are set. */
static inline void wait(uint32_t groups, uint32_t tickets, const struct agent *agent, tvm_pulp_wait wait_for_job) {
  for (uint32_t number = 0; groups >> number != 0u; number++) {
    if (groups >> number & 1u) tvm_pulp_dma_wait_for(agent->groups[number]);
  }
  for (uint32_t number = 0; tickets >> number != 0u; number++) {
    if (tickets >> number & 1u) wait_for_job(agent->tickets[number], number);
  }
}

#endif /* TVM_PULP_COPYING_AGENT_H */
