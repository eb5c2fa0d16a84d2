/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/executor.h"

TVM_PULP_DEFINE_EXECUTOR_MAGIC(TVM_PULP_EXECUTOR_MAGIC);

/* What an agent has under way. */
struct agent {
  uint8_t groups[TVM_PULP_GROUPS];
  uint32_t tickets[TVM_PULP_TICKETS];
};

/* From L3, or rows of a cache: rare, hence not inlined. Returns what follows. */
__attribute__((noinline)) static const uint32_t *issue_rare(const uint32_t *word, const uint32_t *bases) {
  const uint32_t head = word[-1];
  if (head >> 29 == TVM_PULP_COMMAND_FETCH) {
    tvm_pulp_l3_load((void *)(uintptr_t)word[0], word[1], word[2]);
    return word + 3;
  }
  const uint32_t bytes = tvm_pulp_row_bytes(word[1], bases, head & 0x1FFFFu);
  tvm_pulp_dma_command((head & 0x1E0000u) | bytes, word[0], bases[(head >> 21 & 0xFFu) - 1u], 0, 0);
  return word + 2;
}

__attribute__((noinline)) static void wait_for_l3(void) { tvm_pulp_l3_wait(); }

/* Codes are told apart by single bits, from the highest on, so that no register holds one to compare with. */
static inline void issue(const uint32_t *word, const uint32_t *bases, struct agent *agent) {
  __asm__ volatile("" ::: "memory");
  for (;;) {
    const uint32_t head = *word++;
    if ((int32_t)head < 0) {
      if (head >> 29 == TVM_PULP_COMMAND_END) return;
      word = issue_rare(word, bases);
    } else if (head >> 30 == 0u) {
      const uint32_t l1 = word[0], base = head >> 21 & 0xFFu, in_lines = head >> 29;
      uint32_t external = word[1];
      if (base != 0u) external += bases[base - 1u];
      tvm_pulp_dma_command(head & 0x1FFFFFu, l1, external, in_lines, word + 2);
      word += 2u + 2u * in_lines;
    } else if ((int32_t)(head << 2) >= 0) {
      agent->groups[head & 0xFFu] = (uint8_t)tvm_pulp_dma_begin();
    } else {
      agent->tickets[head & 0xFFu] = ((tvm_pulp_submit)(uintptr_t)word[0])((const void *)(uintptr_t)word[1]);
      word += 2;
    }
  }
}
_Static_assert(TVM_PULP_COMMAND_2D == 1 && TVM_PULP_COMMAND_BEGIN == 2 && TVM_PULP_COMMAND_SUBMIT == 3 &&
               TVM_PULP_COMMAND_FETCH == 4, "as told apart");

/* The number of the lowest bit that is set: p.ff1. */
static inline uint32_t lowest(uint32_t bits) {
  uint32_t number;
  __asm__(".insn r 0x33, 0, 0x08, %0, %1, x0" : "=r"(number) : "r"(bits));
  return number;
}

static inline void wait_for_groups(uint32_t groups, const struct agent *agent) {
  if (groups == 0u) return;
  if (groups >> TVM_PULP_L3_GROUP != 0u) {
    wait_for_l3();
    groups &= (1u << TVM_PULP_L3_GROUP) - 1u;
  }
  for (; groups != 0u; groups &= groups - 1u) tvm_pulp_dma_wait(agent->groups[lowest(groups)]);
}

static inline void wait_for_jobs(uint32_t tickets, const struct agent *agent, tvm_pulp_wait wait_for_job) {
  for (; tickets != 0u; tickets &= tickets - 1u) {
    const uint32_t number = lowest(tickets);
    wait_for_job(agent->tickets[number], number);
  }
}

/* A byte of a record's word: the core's own, where every agent has one. Read as such, it needs no shift. */
static inline uint32_t byte(const uint32_t *word, uint32_t number) { return ((const uint8_t *)word)[number]; }

void tvm_pulp_execute(const struct tvm_pulp_step *step, const uint32_t *bases, tvm_pulp_wait wait_for_job) {
  const uint32_t core = tvm_pulp_core_id();
  struct agent agent;
  while (step != 0) {
    if (step->control >> 16 != 0u) TVM_PULP_MARK((step->control >> 16) - 1u);
    if (core < TVM_PULP_AGENTS) {
      const uint32_t words = byte(&step->commands, core);
      if (words != 0u) issue((const uint32_t *)step + words, bases, &agent);
    }
    if (step->function != 0) step->function(step->arguments, core, TVM_PULP_CORES);
    /* The record may be overwritten behind the barrier. */
    const struct tvm_pulp_step *next = step->next;
    if (core < TVM_PULP_AGENTS) {
      wait_for_groups(byte(&step->waits, core), &agent);
      if (core == 0u) wait_for_jobs(byte(&step->control, 1), &agent, wait_for_job);
    }
    if (step->control & TVM_PULP_STEP_BARRIER) tvm_pulp_barrier();
    step = next;
  }
}
