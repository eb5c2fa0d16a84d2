/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/executor.h"

TVM_PULP_DEFINE_EXECUTOR_MAGIC(TVM_PULP_EXECUTOR_MAGIC);

static void transfer(uint32_t head, const uint32_t *word, uint32_t outside) {
  void *l1 = (void *)(uintptr_t)word[0], *external = (void *)(uintptr_t)outside;
  const uint32_t bytes = head & 0xFFFFFu;
  const int is_load = (head & TVM_PULP_LOAD) != 0u;
  if (head >> 29 == TVM_PULP_COMMAND_1D) {
    tvm_pulp_copy(is_load ? l1 : external, is_load ? external : l1, bytes);
  } else if (is_load) {
    tvm_pulp_dma_load_2d(l1, external, bytes, word[2], word[3]);
  } else {
    tvm_pulp_dma_store_2d(external, l1, bytes, word[2], word[3]);
  }
}

static void issue(const uint32_t *word, const uint32_t *bases, uint32_t *tickets) {
  for (;;) {
    const uint32_t head = *word++;
    const uint32_t code = head >> 29;
    if (code <= TVM_PULP_COMMAND_2D) {
      const uint32_t base = head >> 21 & 0xFFu;
      transfer(head, word, base != 0u ? word[1] + bases[base - 1u] : word[1]);
      word += 2u + 2u * code;
    } else if (code == TVM_PULP_COMMAND_SUBMIT) {
      tickets[head & 0xFFu] = ((tvm_pulp_submit)(uintptr_t)word[0])((const void *)(uintptr_t)word[1]);
      word += 2;
    } else if (code == TVM_PULP_COMMAND_ROWS) {
      const uint32_t bytes = tvm_pulp_row_bytes(word[1], bases, head & 0xFFFFFu);
      tvm_pulp_copy((void *)(uintptr_t)word[0], (const void *)(uintptr_t)bases[(head >> 21 & 0xFFu) - 1u], bytes);
      word += 2;
    } else if (code != TVM_PULP_COMMAND_BEGIN) {
      return;
    }
  }
}

void tvm_pulp_execute(const struct tvm_pulp_step *step, const uint32_t *bases, tvm_pulp_wait wait_for_job) {
  uint32_t tickets[TVM_PULP_TICKETS];
  while (step != 0) {
    const uint32_t words = step->commands & 0xFFu, control = step->control;
    if (control >> 16 != 0u) TVM_PULP_MARK((control >> 16) - 1u);
    if (words != 0u) issue((const uint32_t *)step + words, bases, tickets);
    if (step->function != 0) step->function(step->arguments, 0, 1);
    const uint32_t waited = control >> 8 & 0xFFu;
    for (uint32_t number = 0; waited >> number != 0u; number++) {
      if (waited >> number & 1u) wait_for_job(tickets[number], number);
    }
    step = step->next;
  }
}
