/* SPDX-License-Identifier: Apache-2.0
 *
 * Run the jobs of a layer through the driver on the simulated cluster: core 0 starts here with a stack. */
#include "ne16.h"
#include "ne16_platform.h"

enum { MOST_JOBS = 12, SUBMITS = 2 };

/* Shared with the test; in L1. */
struct mailbox {
  uint32_t count;
  uint32_t wake_cycles;            /* trigger store to the first instruction after the sleep */
  uint32_t submit_cycles[SUBMITS]; /* all words, then what changed; the queue having room */
  struct ne16_job jobs[MOST_JOBS];
  struct ne16_changed_job changed;
};
#define MAILBOX ((struct mailbox *)0x1000F000u)

static inline uint32_t cycle_counter(void) {
  uint32_t value;
  __asm__ volatile("csrr %0, 0xB00" : "=r"(value)::"memory");
  return value;
}

/* The last store of a job, timed by itself. */
static uint32_t time_wake_up(const struct ne16_job *job) {
  while (ne16_read(0x04) > 0xFFu) continue;
  for (uint32_t i = 0; i < NE16_WORDS; i++) ne16_write(NE16_REGISTER(i), job->words[i]);
  tvm_pulp_event_mask(1u << NE16_EVENT_LINE);
  const uint32_t start = cycle_counter();
  ne16_write(0x00, 0);
  TVM_PULP_EVENT_LOAD(SIRACUSA_EVENT_WAIT_CLEAR);
  return cycle_counter() - start;
}

void guest_main(void);

void guest_main(void) {
  TVM_PULP_REGISTER(SIRACUSA_CLUSTER_ICACHE_ENABLE) = 1;
  ne16_init();
  for (uint32_t i = 0; i < MAILBOX->count; i++) ne16_submit(&MAILBOX->jobs[i]);
  ne16_wait_all();
  ne16_init();
  /* The last job again, alone, where it may run twice. The first round warms the instruction cache. */
  for (int round = 0; round < 2 && MAILBOX->changed.count == 1; round++) {
    const struct ne16_job *job = &MAILBOX->jobs[MAILBOX->count - 1];
    ne16_ticket last = 0;
    for (int i = 0; i < 2; i++) {
      const uint32_t start = cycle_counter();
      last = ne16_submit(job);
      MAILBOX->submit_cycles[0] = cycle_counter() - start;
      ne16_wait(last);
    }
    for (int i = 0; i < 2; i++) {
      const uint32_t start = cycle_counter();
      last = ne16_submit_changed(&MAILBOX->changed);
      MAILBOX->submit_cycles[1] = cycle_counter() - start;
      ne16_wait(last);
    }
    ne16_wait(last - 2);
  }
  ne16_term();
  if (MAILBOX->changed.count == 1) {
    (void)time_wake_up(&MAILBOX->jobs[MAILBOX->count - 1]);
    MAILBOX->wake_cycles = time_wake_up(&MAILBOX->jobs[MAILBOX->count - 1]);
  }
  TVM_PULP_REGISTER(SIRACUSA_CORE_STATUS) = 0x80000000u;
  for (;;) continue;
}
