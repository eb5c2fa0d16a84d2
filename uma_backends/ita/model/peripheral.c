/* SPDX-License-Identifier: Apache-2.0
 *
 * The ITA model behind the peripheral interface: parameters, life cycle, and rules of the job queue. There are two kinds of
 * it; the parameter `head_engines` asks for the one of heads.h.
 *
 * SOFT_CLEAR empties the queue but does not reach the engine, whose counters, weight buffer and partial sums survive. */
#include <stdlib.h>

#include "engine.h"
#include "heads.h"

static bool start_job(void *self, const uint32_t *words, uint64_t cycle) {
  struct ita_engine *engine = self;
  if (!ita_decode(engine, words, &engine->job) || !ita_sequence_enter(engine, &engine->job)) return false;
  ita_stream_start(engine, cycle);
  engine->queue.next_access = engine->stream.cycle;
  job_queue_find_end(&engine->queue);
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

/* Either of the two: an engine that takes jobs of tiles, or engines that take whole heads. */
struct ita_model {
  struct ita_engine *tiles;
  struct heads heads;
};

static void destroy(void *self) {
  free(((struct ita_model *)self)->tiles);
  free(self);
}

static void *create(const struct tvm_pulp_system *system, const struct tvm_pulp_parameter *parameters, size_t count,
                    char *error, size_t error_bytes) {
  struct ita_options options = {.contexts = ITA_MAX_CONTEXTS};
  struct heads_options heads = {.fetch_bytes = 16, .start_cycles = 200};
  const struct parameter_rule rules[] = {
      {"contexts", &options.contexts, 1, ITA_MAX_CONTEXTS},
      {"head_engines", &heads.engines, 0, HEADS_ENGINES},
      {"fetch_bytes", &heads.fetch_bytes, 1, 1024},
      {"start_cycles", &heads.start_cycles, 0, 1 << 20},
  };
  if (!set_parameters("ita", rules, sizeof rules / sizeof rules[0], parameters, count, error, error_bytes)) return NULL;
  struct ita_model *model = calloc(1, sizeof *model);
  if (model != NULL && heads.engines == 0) model->tiles = calloc(1, sizeof *model->tiles);
  if (model == NULL || (heads.engines == 0 && model->tiles == NULL)) {
    free(model);
    snprintf(error, error_bytes, "no memory left for the ita model");
    return NULL;
  }
  if (model->tiles != NULL) {
    model->tiles->queue = (struct job_queue){.system = *system, .rules = &RULES, .contexts = options.contexts};
    model->tiles->options = options;
  }
  model->heads = (struct heads){.system = *system, .options = heads};
  return model;
}

static void reset_tiles(struct ita_engine *engine) {
  const struct job_queue queue = engine->queue;
  const struct ita_options options = engine->options;
  memset(engine, 0, sizeof *engine);
  engine->queue = queue;
  engine->options = options;
  job_queue_reset(&engine->queue);
}

static void reset(void *self) {
  struct ita_model *model = self;
  if (model->tiles != NULL) reset_tiles(model->tiles);
  heads_reset(&model->heads);
}

static uint32_t read_register(void *self, uint32_t offset, uint32_t core, uint64_t cycle) {
  struct ita_model *model = self;
  return model->tiles != NULL ? job_queue_read(model->tiles, offset, core, cycle) : heads_read(&model->heads, offset, cycle);
}

static void write_register(void *self, uint32_t offset, uint32_t value, uint32_t core, uint64_t cycle) {
  struct ita_model *model = self;
  if (model->tiles != NULL) job_queue_write(model->tiles, offset, value, core, cycle);
  else heads_write(&model->heads, offset, value, cycle);
}

static uint64_t next_event(void *self) {
  struct ita_model *model = self;
  return model->tiles != NULL ? job_queue_next_event(model->tiles) : heads_next_event(&model->heads);
}

static void advance(void *self, uint64_t cycle) {
  struct ita_model *model = self;
  if (model->tiles != NULL) job_queue_advance(model->tiles, cycle);
  else heads_advance(&model->heads, cycle);
}

static void statistics(void *self, struct tvm_pulp_peripheral_statistics *out) {
  const struct ita_model *model = self;
  *out = model->tiles != NULL ? model->tiles->queue.statistics : model->heads.statistics;
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) {
  static const struct tvm_pulp_peripheral TABLE = {
      .abi = TVM_PULP_PERIPHERAL_ABI, .name = "ita", .register_bytes = 0x400, .create = create, .destroy = destroy,
      .reset = reset, .read = read_register, .write = write_register, .next_event = next_event, .advance = advance,
      .statistics = statistics,
  };
  return &TABLE;
}
