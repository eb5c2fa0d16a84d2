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

/* Works as one of the two: an engine that takes jobs of tiles, or engines that take whole heads, where there are any. */
struct ita_model {
  struct ita_engine tiles; /* first: the front end passes it as the engine */
  struct heads heads;
};

static bool takes_heads(const struct ita_model *model) { return model->heads.options.engines != 0; }

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
  struct ita_model *model = job_queue_create(sizeof *model, system, &RULES, options.contexts, "ita", error, error_bytes);
  if (model == NULL) return NULL;
  model->tiles.options = options;
  model->heads = (struct heads){.system = *system, .options = heads};
  return model;
}

static void reset(void *self) {
  struct ita_model *model = self;
  model->tiles = (struct ita_engine){.queue = model->tiles.queue, .options = model->tiles.options};
  job_queue_reset(&model->tiles.queue);
  heads_reset(&model->heads);
}

static uint32_t read_register(void *self, uint32_t offset, uint32_t core, uint64_t cycle) {
  struct ita_model *model = self;
  return takes_heads(model) ? heads_read(&model->heads, offset, cycle) : job_queue_read(self, offset, core, cycle);
}

static void write_register(void *self, uint32_t offset, uint32_t value, uint32_t core, uint64_t cycle) {
  struct ita_model *model = self;
  if (takes_heads(model)) heads_write(&model->heads, offset, value, cycle);
  else job_queue_write(self, offset, value, core, cycle);
}

static uint64_t next_event(void *self) {
  struct ita_model *model = self;
  return takes_heads(model) ? heads_next_event(&model->heads) : job_queue_next_event(self);
}

static void advance(void *self, uint64_t cycle) {
  struct ita_model *model = self;
  if (takes_heads(model)) heads_advance(&model->heads, cycle);
  else job_queue_advance(self, cycle);
}

static void statistics(void *self, struct tvm_pulp_peripheral_statistics *out) {
  const struct ita_model *model = self;
  *out = takes_heads(model) ? model->heads.statistics : model->tiles.queue.statistics;
}

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void);

const struct tvm_pulp_peripheral *tvm_pulp_peripheral(void) {
  static const struct tvm_pulp_peripheral TABLE = {
      .abi = TVM_PULP_PERIPHERAL_ABI, .name = "ita", .register_bytes = 0x400, .create = create, .destroy = free,
      .reset = reset, .read = read_register, .write = write_register, .next_event = next_event, .advance = advance,
      .statistics = statistics,
  };
  return &TABLE;
}
