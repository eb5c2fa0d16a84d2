/* SPDX-License-Identifier: Apache-2.0
 *
 * The ITA model behind the peripheral interface: parameters, life cycle, and its rules of the job queue.
 *
 * SOFT_CLEAR empties the queue but does not reach the engine, whose counters, weight buffer and partial sums survive. */
#include <stdlib.h>

#include "engine.h"

/* Without contention the end of a job is found at once. */
static bool start_job(void *self, const uint32_t *words, uint64_t cycle) {
  struct ita_engine *engine = self;
  if (!ita_decode(engine, words, &engine->job) || !ita_sequence_enter(engine, &engine->job)) return false;
  ita_stream_start(engine, cycle);
  if (engine->queue.system.take_banks == NULL) {
    while (!ita_stream_step(engine)) {
    }
    engine->queue.job_end = engine->stream.cycle;
  }
  engine->queue.next_access = engine->stream.cycle;
  return ita_claim(engine, &engine->job);
}

static bool step_job(void *self) {
  struct ita_engine *engine = self;
  const bool is_over = ita_stream_step(engine);
  engine->queue.next_access = engine->stream.cycle;
  return is_over;
}

static bool finish_job(void *self) {
  struct ita_engine *engine = self;
  const uint32_t *beats = engine->stream.total;
  if (!ita_execute(engine, &engine->job) || !ita_sequence_leave(engine)) return false;
  engine->queue.statistics.macs += (uint64_t)ITA_TILE * ITA_TILE * ITA_TILE;
  /* Beats of the output write a quarter of their bytes. */
  engine->queue.statistics.l1_bytes +=
      (uint64_t)(beats[ITA_INPUT] + beats[ITA_WEIGHT] + beats[ITA_BIAS]) * ITA_BEAT_BYTES +
      (uint64_t)beats[ITA_OUTPUT] * ITA_BEAT_BYTES / 4;
  return true;
}

static void abort_job(void *self) { ((struct ita_engine *)self)->sequence.is_lost = true; }

static const struct job_queue_rules RULES = {
    .name = "ITA",
    .job_words = ITA_JOB_WORDS,
    .ticket_bits = 8,
    .trigger_cycles = 2,
    .gap_cycles = 1,
    .window_stride = 0x100,
    .has_software_event = true,
    .clear_keeps_counts = true,
    .stays_triggered = true,
    .start = start_job,
    .step = step_job,
    .finish = finish_job,
    .abort = abort_job,
};

static void *create(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *parameters, size_t count,
                    char *error, size_t error_bytes) {
  struct ita_options options = {.contexts = ITA_MAX_CONTEXTS};
  const struct parameter_rule rules[] = {
      {"contexts", &options.contexts, 1, ITA_MAX_CONTEXTS},
  };
  if (!set_parameters("ita", rules, sizeof rules / sizeof rules[0], parameters, count, error, error_bytes)) return NULL;
  struct ita_engine *engine = calloc(1, sizeof *engine);
  if (engine == NULL) {
    snprintf(error, error_bytes, "no memory left for the ita model");
    return NULL;
  }
  engine->queue = (struct job_queue){.system = *system, .rules = &RULES, .contexts = options.contexts};
  engine->options = options;
  return engine;
}

static void reset(void *self) {
  struct ita_engine *engine = self;
  const struct job_queue queue = engine->queue;
  const struct ita_options options = engine->options;
  memset(engine, 0, sizeof *engine);
  engine->queue = queue;
  engine->options = options;
  job_queue_reset(&engine->queue);
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) {
  static const struct tvm_pulp_peripheral TABLE = JOB_QUEUE_PERIPHERAL("ita", 0x400, create, free, reset);
  return &TABLE;
}
