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

/* Out of the way of instructions that every job needs. */
#define RARELY __attribute__((noinline, cold))

static ita_ticket next_ticket;
static uint32_t contexts; /* as many as the engine has */
/* What the registers TILES say that a sum has, a nibble per context, of the one that comes next first: in a product (e);
 * in attention the logits (p), and behind 16 bits the results (s). */
static uint32_t sums_in_contexts[2];

/* No sum has more than 15 tiles, so none under way is taken for complete by these registers. An idle engine gets them with
 * jobs that are only committed, and forgotten again. */
RARELY static void make_contexts_harmless(void) {
  engine_wait_all();
  engine_start_over();
  for (uint32_t i = 0; i < contexts; i++) {
    ita_write(TILES, 0xFFFF);
    engine_commit();
  }
  ita_write(ENGINE_SOFT_CLEAR, 1); /* is over before the first job is ready */
  sums_in_contexts[0] = sums_in_contexts[1] = 0xFFFFFFFFu;
}

/* Contexts that can be taken one after the other are all there are. */
void ita_init(void) {
  if (contexts != 0u) return;
  engine_clear();
  while (contexts < MOST_CONTEXTS && ita_read(ENGINE_ACQUIRE) <= 0xFFu) {
    contexts++;
    engine_commit();
  }
  make_contexts_harmless();
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

/* Inside of a sum the engine looks at TILES of the next context as soon as a job ends, written or not, and a core may be held
 * up at any time: no context may say that as many tiles are a sum as come before its job. */
static inline void prepare_contexts(const struct ita_command *command) {
  const uint32_t differ = sums_in_contexts[command->control & 0xFFu] ^ command->tiles_before;
  const uint32_t equal_nibbles = (differ - 0x11111111u) & ~differ & 0x88888888u;
  if (equal_nibbles != 0u) make_contexts_harmless();
}

/* Few jobs leave contexts as they are, which then come first. */
RARELY static void keep_contexts(uint32_t *sums, uint32_t jobs) {
  const uint32_t kept = ((1u << (4u * (contexts - jobs))) - 1u) * 0x10001u;
  for (uint32_t i = 0; i < 2u; i++) sums[i] = (sums_in_contexts[i] >> (4u * jobs) & kept) | (sums[i] & ~kept);
}

static inline void note_contexts(uint32_t tiles, uint32_t jobs) {
  uint32_t sums[2] = {(tiles >> 4 & 15u) * 0x11111111u, (tiles >> 8 & 15u) * 0x1111u + (tiles & 15u) * 0x11110000u};
  if (jobs < contexts) keep_contexts(sums, jobs);
  sums_in_contexts[0] = sums[0];
  sums_in_contexts[1] = sums[1];
}

/* Each job fetches the first weights of the one behind it; the first of a command fetches its own. */
static void queue_job(const struct ita_command *command, uint32_t number, const struct job *job, uint32_t stream,
                      uint32_t next_weights) {
  engine_acquire();
  if (number < MOST_CONTEXTS) write_constants(command);
  ita_write(INPUT_PTR, job->input);
  ita_write(WEIGHT_PTR0, job->weights);
  ita_write(WEIGHT_PTR1, next_weights);
  ita_write(BIAS_PTR, job->bias);
  ita_write(OUTPUT_PTR, job->output);
  ita_write(CTRL_STREAM, job->stream | stream | (number == 0u ? PRELOAD : 0u));
  engine_trigger();
}

ita_ticket ita_submit(const struct ita_command *command) {
  const int is_attention = (command->control & 0xFFu) == ITA_ATTENTION;
  const uint32_t steps = is_attention ? 2u * command->rows : 1u;
  uint32_t jobs = 0; /* found; the last one is queued when the one behind it is known */
  struct job held = {0};
  prepare_contexts(command);
  for (uint32_t number = 0; number < steps; number++) {
    struct step step = is_attention ? attention_step(command, number) : product_step(command);
    do {
      const struct job job = job_at(&step);
      if (jobs > 0u) queue_job(command, jobs - 1u, &held, NEXTLOAD, job.weights);
      held = job;
      jobs++;
    } while (next_job(&step));
  }
  queue_job(command, jobs - 1u, &held, 0, 0);
  note_contexts(command->constants[0], jobs);
  next_ticket += jobs;
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
