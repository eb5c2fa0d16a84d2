/* SPDX-License-Identifier: Apache-2.0
 *
 * Control registers and the two-context job queue.
 *
 * The public control-slave hardware and the public simulator disagree in places; this model follows the hardware:
 *   STATUS        a context is busy from the TRIGGER write on (simulator: from ACQUIRE on)
 *   RUNNING_JOB   number of finished jobs modulo 256 (simulator: id of the running or last job)
 *   FINISHED      jobs finished since the last read, saturating at 2 (simulator: missing)
 *   SOFT_CLEAR    aborts and empties the queue; only a write of 0 also clears job words, ids, STATUS and FINISHED
 * One intent is taken over a defect: in the hardware a commit-only write (TRIGGER != 0) starts the engine once any
 * job was ever triggered; here, as documented, it waits for the next write of 0 unless the engine is still busy. */
#include <string.h>

#include "engine.h"

enum neureka_register {
  TRIGGER = 0x00,
  ACQUIRE = 0x04,
  FINISHED = 0x08,
  STATUS = 0x0C,
  RUNNING_JOB = 0x10,
  SOFT_CLEAR = 0x14,
  SOFTWARE_SYNC = 0x18,
  SOFTWARE_EVENT = 0x1C,
  JOB_WORDS = 0x20,
  JOB_WORDS_END = JOB_WORDS + 4 * NEUREKA_JOB_WORDS,
  /* Two trace-verbosity words of the public simulator follow; programs built for it write them. */
  TRACE_WORDS_END = JOB_WORDS_END + 8,
};

#define ACQUIRE_ALL_BUSY 0xFFFFFFFFu
#define ACQUIRE_LOCKED 0xFFFFFFFEu
#define WRITE_ONLY_REGISTER 0xDEADBEEFu

static void empty_queue(struct neureka_engine *engine) {
  engine->programmed_context = 0;
  engine->running_context = 0;
  engine->pending = 0;
  engine->locked = false;
  engine->triggered = false;
  engine->running = false;
}

static void clear_register_file(struct neureka_engine *engine) {
  memset(engine->words, 0, sizeof engine->words);
  memset(engine->status_busy, 0, sizeof engine->status_busy);
  engine->next_job_id = 0;
  engine->finished_jobs = 0;
  engine->finished_counter = 0;
}

void neureka_reset(struct neureka_engine *engine) {
  empty_queue(engine);
  clear_register_file(engine);
  engine->faulted = false;
  memset(&engine->statistics, 0, sizeof engine->statistics);
}

/* Start the oldest committed job. Its first cycle is the idle one between TRIGGER (or the previous job's end) and
 * the first load; the cycle formula contains it. */
static void start_job(struct neureka_engine *engine, uint64_t cycle) {
  if (!neureka_decode(engine, engine->words[engine->running_context], &engine->job)) return;
  engine->job_start = cycle;
  engine->is_walking = engine->system.take_banks != NULL;
  engine->job_end = engine->is_walking ? TVM_PULP_NEVER : cycle + neureka_job_cycles(&engine->options, &engine->job);
  if (engine->is_walking) neureka_walk_start(engine, cycle);
  if (!neureka_claim(engine, &engine->job, engine->job_end)) return;
  engine->running = true;
}

static void finish_job(struct neureka_engine *engine) {
  if (!neureka_execute(engine, &engine->job)) return;
  if (engine->is_walking) engine->system.release(engine->system.context);
  engine->running = false;
  engine->statistics.jobs++;
  engine->statistics.busy_cycles += engine->job_end - engine->job_start;
  engine->statistics.macs += neureka_job_macs(&engine->job);
  neureka_count_traffic(engine, &engine->job);

  engine->status_busy[engine->running_context] = false;
  engine->running_context = (engine->running_context + 1) % NEUREKA_CONTEXTS;
  engine->pending--;
  engine->finished_jobs++;
  if (engine->finished_counter < 2) engine->finished_counter++;
  engine->system.raise(engine->system.context, engine->job_end);

  if (engine->pending > 0) {
    start_job(engine, engine->job_end);
  } else {
    engine->triggered = false;
  }
}

void neureka_advance(struct neureka_engine *engine, uint64_t cycle) {
  while (engine->running) {
    if (engine->is_walking && engine->job_end == TVM_PULP_NEVER) {
      if (engine->walk.cycle > cycle) return;
      if (neureka_walk_step(engine)) engine->job_end = engine->walk.cycle;
    } else {
      if (engine->job_end > cycle) return;
      finish_job(engine);
    }
  }
}

static uint32_t acquire(struct neureka_engine *engine) {
  if (engine->locked) return ACQUIRE_LOCKED;
  if (engine->pending == NEUREKA_CONTEXTS) return ACQUIRE_ALL_BUSY;
  engine->locked = true;
  return engine->next_job_id++;
}

static void commit(struct neureka_engine *engine, uint32_t value, uint64_t cycle) {
  if (engine->pending == NEUREKA_CONTEXTS) {
    neureka_fault(engine, "NEUREKA was triggered while both of its job contexts are busy; ACQUIRE a context first");
    return;
  }
  engine->locked = false;
  if (value == 0) {
    engine->status_busy[engine->programmed_context] = true;
    engine->triggered = true;
  }
  engine->programmed_context = (engine->programmed_context + 1) % NEUREKA_CONTEXTS;
  engine->pending++;
  if (engine->triggered && !engine->running) start_job(engine, cycle);
}

static void soft_clear(struct neureka_engine *engine, uint32_t value, uint64_t cycle) {
  if (engine->running) engine->statistics.busy_cycles += cycle - engine->job_start;
  if (engine->running && engine->is_walking) engine->system.release(engine->system.context);
  empty_queue(engine);
  if (value == 0) clear_register_file(engine);
}

uint32_t neureka_read(struct neureka_engine *engine, uint32_t offset, uint64_t cycle) {
  if (engine->faulted) return 0;
  neureka_advance(engine, cycle);
  uint32_t finished;
  switch (offset) {
    case TRIGGER: return WRITE_ONLY_REGISTER;
    case ACQUIRE: return acquire(engine);
    case FINISHED:
      finished = engine->finished_counter;
      engine->finished_counter = 0;
      return finished;
    case STATUS: return (engine->status_busy[0] ? 0x001u : 0u) | (engine->status_busy[1] ? 0x100u : 0u);
    case RUNNING_JOB: return engine->finished_jobs;
    case SOFT_CLEAR:
    case SOFTWARE_SYNC:
    case SOFTWARE_EVENT: return 0;
    default: break;
  }
  if (offset % 4 == 0 && offset >= JOB_WORDS && offset < JOB_WORDS_END) {
    return engine->words[engine->programmed_context][(offset - JOB_WORDS) / 4];
  }
  neureka_fault(engine, "NEUREKA has no register at offset 0x%x to read", offset);
  return 0;
}

void neureka_write(struct neureka_engine *engine, uint32_t offset, uint32_t value, uint64_t cycle) {
  if (engine->faulted) return;
  neureka_advance(engine, cycle);
  if (offset % 4 == 0 && offset >= JOB_WORDS && offset < JOB_WORDS_END) {
    /* With both contexts busy the programmed one is the running one, which the hardware reads while it works. */
    if (engine->pending == NEUREKA_CONTEXTS) {
      neureka_fault(engine, "NEUREKA job register 0x%x was written while both contexts are busy, which would change the "
                    "running job; ACQUIRE a context first", offset);
      return;
    }
    engine->words[engine->programmed_context][(offset - JOB_WORDS) / 4] = value;
  } else if (offset == TRIGGER) {
    commit(engine, value, cycle);
  } else if (offset == SOFT_CLEAR) {
    soft_clear(engine, value, cycle);
  } else if (offset % 4 != 0 || offset < JOB_WORDS_END || offset >= TRACE_WORDS_END) {
    neureka_fault(engine, "NEUREKA has no register at offset 0x%x to write", offset);
  }
}
