/* SPDX-License-Identifier: Apache-2.0
 *
 * The NE16 model behind the peripheral interface: parameters, life cycle, and its rules of the job queue. Where the
 * control slave's hardware sources and the public simulator disagree (STATUS, RUNNING, FINISHED, SOFT_CLEAR), it follows
 * the hardware. The engine's accesses to L1 do not wait for the banks. */
#include "tvm_pulp/array_execute.h"

#include "engine.h"

/* The first cycle of a job is the idle one between TRIGGER (or the previous job's end) and the first load; the cycle
 * formula contains it. */
static bool start_job(void *self, const uint32_t *words, uint64_t cycle) {
  struct ne16_engine *engine = self;
  if (!ne16_decode(engine, words, &engine->job)) return false;
  engine->queue.job_end = cycle + ne16_job_cycles(&engine->options, &engine->job);
  return array_claim_job(&engine->queue, &engine->job);
}

static bool finish_job(void *self) {
  struct ne16_engine *engine = self;
  const struct array_job *job = &engine->job;
  if (!array_execute(&engine->queue, &engine->scratch, job, array_unpack_planes)) return false;
  array_count_job(&engine->queue, job, engine->options.whole_windows, array_dimension_total(&job->ko));
  return true;
}

static const struct job_queue_rules RULES = ARRAY_QUEUE_RULES("NE16", start_job, NULL, finish_job);

static void *create(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *parameters, size_t count,
                    char *error, size_t error_bytes) {
  struct ne16_options options = {0};
  const struct parameter_rule rules[] = {{"whole_windows", &options.whole_windows, 0, 1},
                                         {"bank_waits", &options.bank_waits, 0, 1}};
  if (!set_parameters("ne16", rules, sizeof rules / sizeof rules[0], parameters, count, error, error_bytes)) return NULL;
  struct ne16_engine *engine =
      job_queue_create(sizeof *engine, system, &RULES, ARRAY_CONTEXTS, "ne16", error, error_bytes);
  if (engine != NULL) engine->options = options;
  return engine;
}

static void destroy(void *self) {
  struct ne16_engine *engine = self;
  array_free(&engine->scratch);
  free(engine);
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) {
  static const struct tvm_pulp_peripheral TABLE = JOB_QUEUE_PERIPHERAL("ne16", 0x400, create, destroy, job_queue_reset);
  return &TABLE;
}
