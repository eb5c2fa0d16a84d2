/* SPDX-License-Identifier: Apache-2.0
 *
 * Control registers and the job queue.
 *
 * As the hardware has it: a context is busy in STATUS from a TRIGGER of 0 on; FINISHED counts jobs since its last
 * reading and stops at 2; SOFT_CLEAR empties the queue but does not reach the engine, whose counters, weight buffer and
 * partial sums survive. A commit-only write (TRIGGER != 0) waits for the next write of 0 unless the engine is busy. */
#include <string.h>

#include "engine.h"

enum ita_register {
  TRIGGER = 0x00,
  ACQUIRE = 0x04,
  FINISHED = 0x08,
  STATUS = 0x0C,
  RUNNING = 0x10,
  SOFT_CLEAR = 0x14,
  RESERVED = 0x18,
  SOFTWARE_EVENT = 0x1C,
  JOB_WORDS = 0x20,
  JOB_WORDS_END = JOB_WORDS + 4 * ITA_JOB_WORDS,
  CONTEXT_STRIDE = 0x100,
};

#define ACQUIRE_ALL_BUSY 0xFFFFFFFFu
#define ACQUIRE_LOCKED 0xFFFFFFFEu

/* Cycles between a job's end and the start of one that waits in the queue. */
enum { QUEUE_GAP = 3 };

static void empty_queue(struct ita_engine *engine) {
  engine->programmed_context = 0;
  engine->running_context = 0;
  engine->pending = 0;
  engine->locked = false;
  engine->triggered = false;
  engine->running = false;
}

void ita_reset(struct ita_engine *engine) {
  const struct tvm_pulp_system system = engine->system;
  const struct ita_options options = engine->options;
  memset(engine, 0, sizeof *engine);
  engine->system = system;
  engine->options = options;
}

static bool has_contention(const struct ita_engine *engine) { return engine->system.take_banks != NULL; }

/* Start the oldest committed job. Without contention its end is found at once. */
static void start_job(struct ita_engine *engine, uint64_t cycle) {
  if (!ita_decode(engine, engine->words[engine->running_context], &engine->job)) return;
  if (!ita_sequence_enter(engine, &engine->job)) return;
  engine->job_start = cycle;
  engine->job_end = TVM_PULP_NEVER;
  ita_stream_start(engine, cycle);
  if (!has_contention(engine)) {
    while (!ita_stream_step(engine)) {
    }
    engine->job_end = engine->stream.cycle;
  }
  if (!ita_claim(engine, &engine->job, engine->job_end)) return;
  engine->running = true;
}

static void count_traffic(struct ita_engine *engine) {
  const uint32_t *beats = engine->stream.total;
  engine->statistics.jobs++;
  engine->statistics.busy_cycles += engine->job_end - engine->job_start;
  engine->statistics.macs += (uint64_t)ITA_TILE * ITA_TILE * ITA_TILE;
  /* Beats of the output write a quarter of their bytes. */
  engine->statistics.l1_bytes += (uint64_t)(beats[ITA_INPUT] + beats[ITA_WEIGHT] + beats[ITA_BIAS]) * ITA_BEAT_BYTES +
                                 (uint64_t)beats[ITA_OUTPUT] * ITA_BEAT_BYTES / 4;
}

static void finish_job(struct ita_engine *engine) {
  if (!ita_execute(engine, &engine->job)) return;
  if (has_contention(engine)) engine->system.release(engine->system.context);
  ita_sequence_leave(engine);
  count_traffic(engine);
  engine->running = false;
  engine->status_busy[engine->running_context] = false;
  engine->running_context = (engine->running_context + 1) % engine->options.contexts;
  engine->pending--;
  engine->finished_jobs++;
  if (engine->finished_counter < 2) engine->finished_counter++;
  engine->system.raise(engine->system.context, engine->job_end);
  if (engine->pending > 0) start_job(engine, engine->job_end + QUEUE_GAP);
  else engine->triggered = false;
}

void ita_advance(struct ita_engine *engine, uint64_t cycle) {
  while (engine->running) {
    if (engine->job_end == TVM_PULP_NEVER) {
      if (engine->stream.cycle > cycle) return;
      if (ita_stream_step(engine)) engine->job_end = engine->stream.cycle;
    } else {
      if (engine->job_end > cycle) return;
      finish_job(engine);
    }
  }
}

static uint32_t acquire(struct ita_engine *engine) {
  if (engine->locked) return ACQUIRE_LOCKED;
  if (engine->pending == engine->options.contexts) return ACQUIRE_ALL_BUSY;
  engine->locked = true;
  return engine->next_job_id++;
}

static void commit(struct ita_engine *engine, uint32_t value, uint64_t cycle) {
  if (engine->pending == engine->options.contexts) {
    ita_fault(engine, "ITA was triggered while all of its job contexts are busy; ACQUIRE a context first");
    return;
  }
  engine->locked = false;
  if (value == 0) {
    engine->status_busy[engine->programmed_context] = true;
    engine->triggered = true;
  }
  engine->programmed_context = (engine->programmed_context + 1) % engine->options.contexts;
  engine->pending++;
  if (engine->triggered && !engine->running) start_job(engine, cycle);
}

static void soft_clear(struct ita_engine *engine, uint32_t value, uint64_t cycle) {
  if (engine->running) {
    engine->sequence.is_lost = true;
    if (cycle > engine->job_start) engine->statistics.busy_cycles += cycle - engine->job_start;
    engine->system.release(engine->system.context);
  }
  empty_queue(engine);
  memset(engine->status_busy, 0, sizeof engine->status_busy);
  engine->finished_counter = 0;
  engine->next_job_id = engine->finished_jobs = 0;
  if (value == 0) memset(engine->words, 0, sizeof engine->words);
}

static uint32_t status(const struct ita_engine *engine) {
  uint32_t word = 0;
  for (uint32_t i = 0; i < engine->options.contexts; i++) word |= (engine->status_busy[i] ? 1u : 0u) << (8 * i);
  return word;
}

static bool is_job_word(uint32_t offset) { return offset % 4 == 0 && offset >= JOB_WORDS && offset < JOB_WORDS_END; }

uint32_t ita_read(struct ita_engine *engine, uint32_t offset, uint64_t cycle) {
  if (engine->faulted) return 0;
  ita_advance(engine, cycle);
  uint32_t finished;
  switch (offset) {
    case ACQUIRE: return acquire(engine);
    case FINISHED:
      finished = engine->finished_counter;
      engine->finished_counter = 0;
      return finished;
    case STATUS: return status(engine);
    case RUNNING: return engine->finished_jobs;
    case TRIGGER:
    case SOFT_CLEAR:
    case RESERVED:
    case SOFTWARE_EVENT: return 0;
    default: break;
  }
  if (is_job_word(offset)) return engine->words[engine->programmed_context][(offset - JOB_WORDS) / 4];
  const uint32_t context = offset / CONTEXT_STRIDE, inside = offset % CONTEXT_STRIDE;
  if (context >= 1 && context <= engine->options.contexts && is_job_word(inside))
    return engine->words[context - 1][(inside - JOB_WORDS) / 4];
  ita_fault(engine, "ITA has no register at offset 0x%x to read", offset);
  return 0;
}

void ita_write(struct ita_engine *engine, uint32_t offset, uint32_t value, uint64_t cycle) {
  if (engine->faulted) return;
  ita_advance(engine, cycle);
  if (is_job_word(offset)) {
    if (engine->pending == engine->options.contexts) {
      ita_fault(engine, "ITA job register 0x%x was written while all contexts are busy, which would change the running "
                "job; ACQUIRE a context first", offset);
      return;
    }
    engine->words[engine->programmed_context][(offset - JOB_WORDS) / 4] = value;
  } else if (offset == TRIGGER) {
    commit(engine, value, cycle);
  } else if (offset == SOFT_CLEAR) {
    soft_clear(engine, value, cycle);
  } else if (offset == SOFTWARE_EVENT) {
    engine->system.raise(engine->system.context, cycle);
  } else {
    ita_fault(engine, "ITA has no register at offset 0x%x to write", offset);
  }
}
