/* SPDX-License-Identifier: Apache-2.0 */
#include "ne16.h"

#include "ne16_platform.h"

#define ENGINE_READ ne16_read
#define ENGINE_WRITE ne16_write
#define ENGINE_SLEEP ne16_sleep
#include "tvm_pulp/engine_driver.h"

/* Clock, priority of the engine on L1, at most eight cycles of stall for cores. */
enum { ENGINE_ON = 1 << 11 | 1 << 8 | 8 };

/* Contexts alternate from context 0 on, so the lowest bit of a ticket names its context, for as long as the engine is
 * powered: tickets go on counting from one ne16_init to the next. */
NE16_STATE static ne16_ticket next_ticket;
/* Zero at start. */
static uint32_t is_cleared;

void ne16_init(void) {
  ne16_configure(ENGINE_ON);
  /* Once only, when the engine has run no job: the hardware then starts over with context 0, the public simulator does
   * not. */
  if (is_cleared == 0u) {
    is_cleared = 1;
    next_ticket = 0;
    engine_clear();
  }
}

void ne16_term(void) {
  engine_wait_all();
  ne16_configure(0);
}

ne16_ticket ne16_submit(const struct ne16_job *job) {
  const uint32_t *w = job->words;
  engine_acquire();
  engine_write_six(ENGINE_JOB_WORDS, w[0], w[1], w[2], w[3], w[4], w[5]);
  engine_write_six(ENGINE_JOB_WORDS + 24, w[6], w[7], w[8], w[9], w[10], w[11]);
  engine_write_six(ENGINE_JOB_WORDS + 48, w[12], w[13], w[14], w[15], w[16], w[17]);
  engine_write_six(ENGINE_JOB_WORDS + 72, w[18], w[19], w[20], w[21], w[22], w[23]);
  engine_trigger();
  return next_ticket++;
}

NE16_CODE ne16_ticket ne16_submit_changed(const struct ne16_changed_job *job) {
  const uint32_t *a = job->addresses;
  engine_acquire();
  engine_write_six(ENGINE_JOB_WORDS, a[0], a[1], a[2], a[3], a[4], a[5]);
  for (uint32_t i = 0; i < job->count; i++) ne16_write(job->changes[i].offset, job->changes[i].value);
  engine_trigger();
  return next_ticket++;
}

/* A context is free again, or works for a later ticket; nobody submits in the meantime. Of the registers that tell,
 * STATUS is the one on which hardware and public simulator agree. */
NE16_CODE void ne16_wait(ne16_ticket ticket) {
  if (next_ticket - 1u - ticket >= 2u) return;
  const uint32_t busy = 0xFFu << (8u * (ticket & 1u));
  while ((ne16_read(ENGINE_STATUS) & busy) != 0u) ne16_sleep();
  engine_order_memory();
}

void ne16_wait_all(void) { engine_wait_all(); }
