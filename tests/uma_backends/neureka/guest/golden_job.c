/* SPDX-License-Identifier: Apache-2.0
 *
 * Run one job through the driver on the simulated cluster: core 0 starts here with a stack. */
#include "neureka.h"
#include "neureka_platform.h"

enum { ROUNDS = 2, SUBMITS = 4 };

/* Shared with the test; at the bottom of L1. */
struct mailbox {
  struct neureka_shape shape;
  uint32_t pointers[6];
  uint32_t submit_cycles[SUBMITS]; /* call to return, the queue having room */
  uint32_t wake_cycles;            /* trigger store to the first instruction after the sleep */
};
#define MAILBOX ((volatile struct mailbox *)0x10000000u)

static inline uint32_t cycle_counter(void) {
  uint32_t value;
  __asm__ volatile("csrr %0, 0xB00" : "=r"(value)::"memory");
  return value;
}

/* The last store of a job, timed by itself. */
static uint32_t time_wake_up(const struct neureka_job *job) {
  while (neureka_read(0x04) > 0xFFu) continue;
  const uint32_t *pointers = &job->weights;
  for (uint32_t i = 0; i < 6; i++) neureka_write(0x20 + 4 * i, pointers[i]);
  for (uint32_t i = 0; i < NEUREKA_SHAPE_WORDS; i++) neureka_write(0x38 + 4 * i, job->shape->words[i]);
  const uint32_t start = cycle_counter();
  neureka_write(0x00, 0);
  neureka_sleep();
  return cycle_counter() - start;
}

void guest_main(void);

void guest_main(void) {
  *neureka_word(0x10201400u) = 1; /* instruction cache on */
  const uint32_t *pointers = (const uint32_t *)(uintptr_t)MAILBOX->pointers;
  const struct neureka_job job = {pointers[0], pointers[1], pointers[2], pointers[3], pointers[4], pointers[5],
                                  (const struct neureka_shape *)(uintptr_t)&MAILBOX->shape};
  /* The first round warms the instruction cache. */
  for (int round = 0; round < ROUNDS; round++) {
    neureka_init();
    MAILBOX->wake_cycles = time_wake_up(&job);
    neureka_init();
    for (int i = 0; i < SUBMITS; i++) {
      const uint32_t start = cycle_counter();
      const neureka_ticket ticket = neureka_submit(&job);
      MAILBOX->submit_cycles[i] = cycle_counter() - start;
      neureka_wait(ticket);
    }
    /* Without waiting in between: both contexts busy. */
    for (int i = 0; i < SUBMITS; i++) neureka_submit(&job);
    neureka_wait_all();
    neureka_term();
  }
  *neureka_word(0x1A1040A0u) = 0x80000000u; /* end of computation */
  for (;;) continue;
}
