/* SPDX-License-Identifier: Apache-2.0 */
#include "causes.h"

#include "platform.h"

void hart_causes(const struct hart *hart, uint64_t now, uint64_t causes[CAUSES]) {
  const struct hart_counters *count = &hart->count;
  const struct config *config = &hart->platform->config;
  uint64_t rest = now - hart->start_cycle;
  causes[CAUSE_load_use] = count->load_use;
  causes[CAUSE_l1_conflict] = count->l1_conflict;
  causes[CAUSE_external_access] =
      count->external_load_cycles + count->external_store_cycles + count->misaligned + count->blocked;
  causes[CAUSE_instruction_cache] = count->icache;
  causes[CAUSE_branch_and_jump] = count->taken_branches * (uint64_t)config->timing_branch_taken_penalty +
                                  count->jumps * (uint64_t)config->timing_jump_penalty + count->jump_register;
  causes[CAUSE_multiply_and_divide] = count->multiply_divide;
  causes[CAUSE_event_wait] = count->event_load + count->asleep;
  for (uint32_t i = CAUSE_issue + 1; i < CAUSES; i++) rest -= causes[i];
  causes[CAUSE_issue] = rest;
}
