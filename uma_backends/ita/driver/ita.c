/* SPDX-License-Identifier: Apache-2.0 */
#include "ita.h"

#include "ita_platform.h"

#define ENGINE_READ ita_read
#define ENGINE_WRITE ita_write
#define ENGINE_SLEEP ita_sleep
#include "tvm_pulp/engine_driver.h"

enum { INPUT_PTR = 0x20, WEIGHT_PTR0 = 0x24, WEIGHT_PTR1 = 0x28, BIAS_PTR = 0x2C, OUTPUT_PTR = 0x30 };
enum { TILES = 0x38, CTRL_ENGINE = 0x54, CTRL_STREAM = 0x58, GELU_B_C = 0x5C, ACT_REQUANT = 0x60 };
enum { PRELOAD = 1, NEXTLOAD = 2, BIAS_OFF = 4, BIAS_BY_ROW = 8, OUTPUT_OFF = 16 };
enum { NO_BIAS = 0, BY_ROW = 2 };
enum { TILE_BYTES = 4096, BIAS_BYTES = 192 };

/* Contexts take turns from context 0 on, and each keeps its registers: constants are written once per context. */
enum { MOST_CONTEXTS = 4 };

static ita_ticket next_ticket;
static uint32_t is_cleared;
/* What the contexts agree on since so many jobs. */
static uint32_t tiles, engine_control, agreeing_jobs;

void ita_init(void) {
  if (is_cleared != 0u) return;
  is_cleared = 1;
  engine_clear();
}

struct job {
  uint32_t input, weights, bias, output, stream;
};

/* One step of a command: its jobs are inner tiles fastest, then columns, then rows. */
struct step {
  const uint32_t *left, *right, *result; /* panels */
  uint32_t rows, columns, inner;
  uint32_t left_stride, right_stride, left_offset, result_offset; /* bytes between tiles of a panel; where rows begin */
  uint32_t bias, bias_kind;
  uint32_t row, column, k;
};

static inline struct job job_at(const struct step *s) {
  struct job job;
  job.input = s->left[s->k] + s->left_offset + s->row * s->left_stride;
  job.weights = s->right[s->k] + s->column * s->right_stride;
  job.output = s->result[s->column] + s->result_offset + s->row * TILE_BYTES;
  job.bias = s->bias + BIAS_BYTES * (s->bias_kind == BY_ROW ? s->row : s->column);
  job.stream = (s->bias_kind == NO_BIAS ? BIAS_OFF : 0u) | (s->bias_kind == BY_ROW ? BIAS_BY_ROW : 0u) |
               (s->k + 1u < s->inner ? OUTPUT_OFF : 0u);
  return job;
}

/* False behind the last job of a step. */
static inline int next_job(struct step *s) {
  if (++s->k < s->inner) return 1;
  s->k = 0;
  if (++s->column < s->columns) return 1;
  s->column = 0;
  return ++s->row < s->rows;
}

static inline struct step product_step(const struct ita_command *c) {
  const uint32_t *panels = c->panels;
  return (struct step){.left = panels,
                       .right = panels + c->inner,
                       .result = panels + 2u * c->inner,
                       .rows = c->rows,
                       .columns = c->columns,
                       .inner = c->inner,
                       .left_stride = c->left_stride,
                       .right_stride = c->right_stride,
                       .bias = c->bias,
                       .bias_kind = c->control >> ITA_BIAS_SHIFT & 0xFFu};
}

/* Steps of attention come in pairs per row of tiles: logits from queries and keys, then results from logits and values. */
static inline struct step attention_step(const struct ita_command *c, uint32_t number) {
  const uint32_t *queries = c->panels, *keys = queries + c->inner, *values = keys + c->inner;
  const uint32_t *logits = values + c->columns, *result = logits + c->columns;
  if (number % 2u == 0u) {
    return (struct step){.left = queries,
                         .right = keys,
                         .result = logits,
                         .rows = 1,
                         .columns = c->columns,
                         .inner = c->inner,
                         .right_stride = TILE_BYTES,
                         .left_offset = number / 2u * TILE_BYTES};
  }
  return (struct step){.left = logits,
                       .right = values,
                       .result = result,
                       .rows = 1,
                       .columns = c->inner,
                       .inner = c->columns,
                       .right_stride = c->right_stride,
                       .result_offset = number / 2u * TILE_BYTES};
}

static inline void write_constants(const struct ita_command *command) {
  const uint32_t *c = command->constants;
  for (uint32_t i = 0; i < 7u; i++) ita_write(TILES + 4u * i, c[i]);
  ita_write(CTRL_ENGINE, command->control >> ITA_ENGINE_SHIFT & 0xFFu);
  ita_write(GELU_B_C, c[7]);
  ita_write(ACT_REQUANT, c[8]);
}

/* In the middle of a layer the engine looks at TILES and CTRL_ENGINE of the next context as soon as a job ends, written or
 * not. A core may be held up at any time, so a layer starts when as many jobs as there are contexts are written: from then
 * on all contexts agree. Returns how many jobs are to be written before the first of them starts. */
static uint32_t jobs_before_start(const struct ita_command *command, uint32_t jobs) {
  const uint32_t control = command->control >> ITA_ENGINE_SHIFT & 0xFFu;
  if (command->constants[0] != tiles || control != engine_control) agreeing_jobs = 0;
  const int is_safe = agreeing_jobs >= MOST_CONTEXTS || jobs == 1u;
  tiles = command->constants[0];
  engine_control = control;
  agreeing_jobs += jobs;
  if (is_safe) return 1;
  engine_wait_all();
  return jobs < MOST_CONTEXTS ? jobs : MOST_CONTEXTS;
}

/* Each job fetches the first weights of the one behind it; the first of a command fetches its own. */
static void queue_job(const struct ita_command *command, ita_ticket first, uint32_t before_start, const struct job *job,
                      uint32_t stream, uint32_t next_weights) {
  const ita_ticket ticket = next_ticket;
  engine_acquire();
  if (ticket - first < MOST_CONTEXTS) write_constants(command);
  ita_write(INPUT_PTR, job->input);
  ita_write(WEIGHT_PTR0, job->weights);
  ita_write(WEIGHT_PTR1, next_weights);
  ita_write(BIAS_PTR, job->bias);
  ita_write(OUTPUT_PTR, job->output);
  ita_write(CTRL_STREAM, job->stream | stream | (ticket == first ? PRELOAD : 0u));
  if (ticket - first + 1u < before_start) engine_commit();
  else engine_trigger();
  next_ticket = ticket + 1u;
}

ita_ticket ita_submit(const struct ita_command *command) {
  const int is_attention = (command->control & 0xFFu) == ITA_ATTENTION;
  const uint32_t steps = is_attention ? 2u * command->rows : 1u;
  const uint32_t tiles_of_step = (is_attention ? 1u : command->rows) * command->columns * command->inner;
  const uint32_t before_start = jobs_before_start(command, steps * tiles_of_step);
  const ita_ticket first = next_ticket;
  struct job held;
  int is_held = 0;
  for (uint32_t number = 0; number < steps; number++) {
    struct step step = is_attention ? attention_step(command, number) : product_step(command);
    do {
      const struct job job = job_at(&step);
      if (is_held) queue_job(command, first, before_start, &held, NEXTLOAD, job.weights);
      held = job;
      is_held = 1;
    } while (next_job(&step));
  }
  queue_job(command, first, before_start, &held, 0, 0);
  return next_ticket - 1u;
}

int ita_is_done(ita_ticket ticket) {
  return next_ticket - 1u - ticket >= MOST_CONTEXTS || engine_has_finished(ticket);
}

void ita_wait(ita_ticket ticket) {
  while (!ita_is_done(ticket)) ita_sleep();
  engine_order_memory();
}

void ita_wait_all(void) { engine_wait_all(); }
