/* SPDX-License-Identifier: Apache-2.0 */
#include "qvanilla.h"

enum { PARAMETERS = 12, START = 0x30, STATUS = 0x34, CYCLES_PER_MAC = 0x38, TIMED = 0x2000 };

#define REGISTER(offset) (*(volatile uint32_t *)(uintptr_t)(QVANILLA_BASE + (offset)))

void qvanilla_init(void) {}

void qvanilla_submit(const struct qvanilla_job *job) {
  const uint32_t *parameter = &job->input;
  qvanilla_wait();
  if (job->offset == TIMED) REGISTER(TIMED + CYCLES_PER_MAC) = job->cycles_per_mac;
  for (uint32_t i = 0; i < PARAMETERS; i++) REGISTER(job->offset + 4u * i) = parameter[i];
  REGISTER(job->offset + START) = 1;
}

void qvanilla_wait(void) {
  while (REGISTER(TIMED + STATUS) != 0u) {
  }
  __asm__ volatile("" ::: "memory");
}
