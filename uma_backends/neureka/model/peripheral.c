/* SPDX-License-Identifier: Apache-2.0
 *
 * The NEUREKA model behind the peripheral interface: parameters, life cycle, and its rules of the job queue.
 *
 * The public control-slave hardware and the public simulator disagree in places; this model follows the hardware:
 *   STATUS        a context is busy from the TRIGGER write on (simulator: from ACQUIRE on)
 *   RUNNING       number of finished jobs modulo 256 (simulator: id of the running or last job)
 *   FINISHED      jobs finished since the last read, saturating at 2 (simulator: missing)
 *   SOFT_CLEAR    aborts and empties the queue; only a write of 0 also clears job words, ids, STATUS and FINISHED
 * One intent is taken over a defect: in the hardware a commit-only write (TRIGGER != 0) starts the engine once any
 * job was ever triggered; here, as documented, it waits for the next write of 0 unless the engine is still busy. */
#include "tvm_pulp/array_execute.h"

#include "engine.h"

/* The Siracusa instance. */
static const struct neureka_options SIRACUSA = {
    .geometry = {.pe_rows = 6,
                 .pe_columns = 6,
                 .channels_1x1 = 32,
                 .channels_3x3 = 28,
                 .output_channels = 32,
                 .weight_beat_bytes = 32,
                 .signed_input = 1},
    .timing_revision = 202604,
    .beat_w = 1000,
    .beat_x = 1000,
};

/* A 3x3 beat carries one bit plane of all taps, a 1x1 beat eight bit planes of all channels. */
static bool check_geometry(const struct neureka_geometry *g, char *error, size_t error_bytes) {
  if (ARRAY_TAPS * g->channels_3x3 > 8 * g->weight_beat_bytes) {
    snprintf(error, error_bytes, "a weight beat of %u bytes is too narrow for 9 taps of %u channels, widen it",
             g->weight_beat_bytes, g->channels_3x3);
    return false;
  }
  if (g->channels_1x1 > g->weight_beat_bytes || g->channels_1x1 % 4 != 0) {
    snprintf(error, error_bytes, "channels_1x1 is %u, choose a multiple of 4 up to the %u bytes of a weight beat",
             g->channels_1x1, g->weight_beat_bytes);
    return false;
  }
  if (g->output_channels % 8 != 0 || g->channels_3x3 > g->output_channels) {
    snprintf(error, error_bytes, "output_channels is %u, choose a multiple of 8 not below channels_3x3 = %u",
             g->output_channels, g->channels_3x3);
    return false;
  }
  return true;
}

static bool check_revision(uint32_t revision, char *error, size_t error_bytes) {
  if (revision == NEUREKA_RTL || revision >= 202603) return true;
  snprintf(error, error_bytes, "parameter timing_revision of neureka is %u, choose 202603, 202604 or 0 for the RTL", revision);
  return false;
}

/* The first cycle of a job is the idle one between TRIGGER (or the previous job's end) and the first load; the walk
 * contains it. */
static bool start_job(void *self, const uint32_t *words, uint64_t cycle) {
  struct neureka_engine *engine = self;
  if (!neureka_decode(engine, words, &engine->job)) return false;
  neureka_walk_start(engine, cycle);
  engine->queue.next_access = engine->walk.cycle;
  job_queue_find_end(&engine->queue);
  return array_claim_job(&engine->queue, &engine->job);
}

static bool step_job(void *self) {
  struct neureka_engine *engine = self;
  const bool is_over = neureka_walk_step(engine);
  engine->queue.next_access = engine->walk.cycle;
  return is_over;
}

static bool finish_job(void *self) {
  struct neureka_engine *engine = self;
  const struct array_job *job = &engine->job;
  array_unpack *unpack = job->mode == ARRAY_1X1 ? neureka_unpack_pointwise : array_unpack_planes;
  if (!array_execute(&engine->queue, &engine->scratch, job, unpack)) return false;
  const uint32_t filters = array_is_depthwise(job) ? job->ko.count : array_dimension_total(&job->ko);
  array_count_job(&engine->queue, job, neureka_is_rtl(&engine->options), filters);
  return true;
}

static const struct job_queue_rules RULES = ARRAY_QUEUE_RULES("NEUREKA", start_job, step_job, finish_job);

static void *create(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *parameters, size_t count,
                    char *error, size_t error_bytes) {
  struct neureka_options options = SIRACUSA;
  const struct parameter_rule rules[] = {
      {"pe_rows", &options.geometry.pe_rows, 1, NEUREKA_MAX_PE_ROWS},
      {"pe_columns", &options.geometry.pe_columns, 1, NEUREKA_MAX_PE_COLUMNS},
      {"channels_1x1", &options.geometry.channels_1x1, 4, NEUREKA_MAX_CHANNELS},
      {"channels_3x3", &options.geometry.channels_3x3, 1, NEUREKA_MAX_CHANNELS},
      {"output_channels", &options.geometry.output_channels, 8, NEUREKA_MAX_CHANNELS},
      {"weight_beat_bytes", &options.geometry.weight_beat_bytes, 4, 128},
      {"signed_input", &options.geometry.signed_input, 0, 1},
      {"beat_w", &options.beat_w, 1, 1000000},
      {"beat_x", &options.beat_x, 1, 1000000},
      {"timing_revision", &options.timing_revision, NEUREKA_RTL, 202604},
      {"gvsoc_dw_wmem_quirk", &options.gvsoc_dw_wmem_quirk, 0, 1},
  };
  if (!set_parameters("neureka", rules, sizeof rules / sizeof rules[0], parameters, count, error, error_bytes) ||
      !check_geometry(&options.geometry, error, error_bytes) ||
      !check_revision(options.timing_revision, error, error_bytes))
    return NULL;
  struct neureka_engine *engine =
      job_queue_create(sizeof *engine, system, &RULES, ARRAY_CONTEXTS, "neureka", error, error_bytes);
  if (engine != NULL) engine->options = options;
  return engine;
}

static void destroy(void *self) {
  struct neureka_engine *engine = self;
  array_free(&engine->scratch);
  free(engine);
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) {
  static const struct tvm_pulp_peripheral TABLE = JOB_QUEUE_PERIPHERAL("neureka", 0x400, create, destroy, job_queue_reset);
  return &TABLE;
}
