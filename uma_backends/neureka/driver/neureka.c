/* SPDX-License-Identifier: Apache-2.0 */
#include "neureka.h"

#include "neureka_platform.h"

#define ENGINE_READ neureka_read
#define ENGINE_WRITE neureka_write
#define ENGINE_SLEEP neureka_sleep
#include "tvm_pulp/engine_driver.h"

enum { SHAPE_WORDS = ENGINE_JOB_WORDS + 24 };

/* Contexts alternate from context 0 on, so the lowest bit of a ticket names its context, for as long as the engine is
 * powered: tickets go on counting from one neureka_init to the next. */
NEUREKA_STATE static neureka_ticket next_ticket;
NEUREKA_STATE static const struct neureka_shape *programmed_shape[2];
/* Zero at start. */
static uint32_t is_cleared;

void neureka_init(void) {
  neureka_set_priority(1, 8);
  /* Once only, when the engine has run no job: the hardware then starts over with context 0, the public simulator does
   * not. */
  if (is_cleared == 0u) {
    is_cleared = 1;
    next_ticket = 0;
    engine_clear();
  }
  /* Whoever ran before may have left other shapes at the same places. */
  programmed_shape[0] = programmed_shape[1] = 0;
  neureka_unmask_event();
}

void neureka_term(void) {
  engine_wait_all();
  neureka_set_priority(0, 0);
}

#define WRITE_POINTERS(job) \
  engine_write_six(ENGINE_JOB_WORDS, (job)->weights, (job)->input, (job)->output, (job)->scale, (job)->shift, (job)->bias)

static inline void write_shape(const struct neureka_shape *shape) {
  const uint32_t *w = shape->words;
  engine_write_six(SHAPE_WORDS, w[0], w[1], w[2], w[3], w[4], w[5]);
  engine_write_six(SHAPE_WORDS + 24, w[6], w[7], w[8], w[9], w[10], w[11]);
  engine_write_six(SHAPE_WORDS + 48, w[12], w[13], w[14], w[15], w[16], w[17]);
}

static inline neureka_ticket submit(const struct neureka_job *job, const struct neureka_shape *remembered) {
  engine_acquire();
  const neureka_ticket ticket = next_ticket++;
  const struct neureka_shape **programmed = &programmed_shape[ticket & 1u];
  /* Job registers keep their values per context. */
  if (remembered == 0 || *programmed != remembered) {
    write_shape(job->shape);
    *programmed = remembered;
  }
  WRITE_POINTERS(job);
  engine_trigger();
  return ticket;
}

neureka_ticket neureka_submit(const struct neureka_job *job) { return submit(job, job->shape); }

neureka_ticket neureka_submit_once(const struct neureka_job *job) { return submit(job, 0); }

NEUREKA_CODE neureka_ticket neureka_submit_changed(const struct neureka_changed_job *job) {
  engine_acquire();
  WRITE_POINTERS(job);
  for (uint32_t i = 0; i < job->count; i++) neureka_write(job->changes[i].offset, job->changes[i].value);
  engine_trigger();
  return next_ticket++;
}

/* A context is free again, or works for a later ticket. Of the registers that tell, STATUS is the one on which hardware
 * and public simulator agree. */
int neureka_is_done(neureka_ticket ticket) {
  const uint32_t newer = next_ticket - 1u - ticket;
  if (newer >= 2u) return 1;
  return (neureka_read(ENGINE_STATUS) >> (8u * (ticket & 1u)) & 0xFFu) == 0u;
}

NEUREKA_CODE void neureka_wait(neureka_ticket ticket) {
  /* As above; nobody submits in the meantime. */
  if (next_ticket - 1u - ticket >= 2u) return;
  const uint32_t busy = 0xFFu << (8u * (ticket & 1u));
  while ((neureka_read(ENGINE_STATUS) & busy) != 0u) neureka_sleep();
}

void neureka_wait_all(void) { engine_wait_all(); }
