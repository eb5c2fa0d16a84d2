/* SPDX-License-Identifier: Apache-2.0 */
#include "ita.h"

#include "ita_platform.h"

#define ENGINE_READ ita_read
#define ENGINE_WRITE ita_write
#define ENGINE_SLEEP ita_sleep
#include "tvm_pulp/engine_driver.h"

enum { INPUT_PTR = 0x20, WEIGHT_PTR0 = 0x24, WEIGHT_PTR1 = 0x28, BIAS_PTR = 0x2C, OUTPUT_PTR = 0x30 };
enum { TILES = 0x38, EPS_MULT0 = 0x3C, EPS_MULT1 = 0x40, RIGHT_SHIFT0 = 0x44, RIGHT_SHIFT1 = 0x48, ADD0 = 0x4C, ADD1 = 0x50 };
enum { CTRL_ENGINE = 0x54, CTRL_STREAM = 0x58, GELU_B_C = 0x5C, ACT_REQUANT = 0x60, ACTIVATION_SHIFT = 2 };
enum { PRELOAD = 1, NEXTLOAD = 2, BIAS_OFF = 4, BIAS_BY_ROW = 8, OUTPUT_OFF = 16 };
enum { NO_BIAS = 0, BY_ROW = 2 };
#define NONE 0xFFFFFFFFu /* no address */
enum { TILE_BYTES = 4096, BIAS_BYTES = 192 };

/* Contexts take turns from context 0 on, and each keeps its registers: constants are written once per context. */
enum { MOST_CONTEXTS = 4 };

/* Out of the way of instructions that every job needs. */
#define RARELY __attribute__((noinline, cold))

static ita_ticket next_ticket;
static uint32_t contexts; /* as many as the engine has */
/* What TILES of the last four jobs say that a sum has, the oldest first: six bits each, as in `tiles_before` of a command. */
static uint32_t sums_in_contexts;
static uint32_t bits_of_older; /* of these, jobs whose context another one took */

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
  sums_in_contexts = 0;
}

/* Contexts that can be taken one after the other are all there are. */
void ita_init(void) {
  if (contexts != 0u) return;
  engine_clear();
  while (contexts < MOST_CONTEXTS && ita_read(ENGINE_ACQUIRE) <= 0xFFu) {
    contexts++;
    engine_commit();
  }
  bits_of_older = 6u * (MOST_CONTEXTS - contexts);
  make_contexts_harmless();
}

/* One step of a command: its jobs are inner tiles fastest, then columns, then rows. */
struct step {
  const uint32_t *left, *right, *result; /* panels */
  uint32_t rows, columns, inner;
  uint32_t left_offset, left_stride, right_stride, result_offset; /* where rows begin; bytes between tiles of a panel */
  uint32_t bias, bias_row, bias_column;                           /* where it begins, bytes to that of the next row and column */
  uint32_t stream;       /* flags of its jobs */
  uint32_t next_weights; /* of the step behind it, or NONE */
};

static inline struct step product_step(const struct ita_command *c) {
  const uint32_t *panels = c->panels, bias_kind = c->control >> ITA_BIAS_SHIFT & 0xFFu;
  const int is_by_row = bias_kind == BY_ROW;
  return (struct step){.left = panels,
                       .right = panels + c->inner,
                       .result = panels + 2u * c->inner,
                       .rows = c->rows,
                       .columns = c->columns,
                       .inner = c->inner,
                       .left_stride = c->left_stride,
                       .right_stride = c->right_stride,
                       .bias = c->bias,
                       .bias_row = is_by_row ? BIAS_BYTES : 0u,
                       .bias_column = is_by_row ? 0u : BIAS_BYTES,
                       .stream = bias_kind == NO_BIAS ? BIAS_OFF : is_by_row ? BIAS_BY_ROW : 0u,
                       .next_weights = NONE};
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
                         .left_offset = number / 2u * TILE_BYTES,
                         .right_stride = TILE_BYTES,
                         .stream = BIAS_OFF,
                         .next_weights = values[0]};
  }
  return (struct step){.left = logits,
                       .right = values,
                       .result = result,
                       .rows = 1,
                       .columns = c->inner,
                       .inner = c->columns,
                       .right_stride = c->right_stride,
                       .result_offset = number / 2u * TILE_BYTES,
                       .stream = BIAS_OFF,
                       .next_weights = number / 2u + 1u < c->rows ? keys[0] : NONE};
}

/* Those that the jobs look at; an access takes longer than the test. */
static inline void write_constants(const struct ita_command *command) {
  const uint32_t *c = command->constants, engine = command->control >> ITA_ENGINE_SHIFT & 0xFFu;
  ita_write(TILES, c[0]);
  ita_write(EPS_MULT0, c[1]);
  ita_write(RIGHT_SHIFT0, c[3]);
  ita_write(ADD0, c[5]);
  ita_write(CTRL_ENGINE, engine);
  if ((command->control & 0xFFu) == ITA_ATTENTION) {
    ita_write(EPS_MULT1, c[2]);
    ita_write(RIGHT_SHIFT1, c[4]);
    ita_write(ADD1, c[6]);
  } else if (engine >> ACTIVATION_SHIFT != 0u) {
    ita_write(GELU_B_C, c[7]);
    ita_write(ACT_REQUANT, c[8]);
  }
}

/* Inside of a sum the engine looks at TILES of the next context as soon as a job ends, written or not, and a core may be held
 * up at any time: no context may say that as many tiles are a sum as come before its job. */
static inline int contexts_mislead(const struct ita_command *command) {
  const uint32_t before = command->tiles_before, differ = sums_in_contexts >> bits_of_older ^ before;
  return ((before | before >> 1) & ~(differ | differ >> 1) & 0x555555u) != 0u;
}

/* Queue the jobs of a step behind `jobs` others of its command. Each fetches the first weights of the one behind it; the
 * first of a command fetches its own. The loop over tiles of a sum is short because instruction caches are small. */
static inline uint32_t queue_step(const struct ita_command *command, const struct step *s, uint32_t jobs) {
  uint32_t weights = s->right[0], input_offset = s->left_offset, output_offset = s->result_offset, first_bias = s->bias;
  for (uint32_t row = 1; row <= s->rows; row++) {
    uint32_t weight_offset = 0, bias = first_bias;
    for (uint32_t column = 1; column <= s->columns; column++) {
      const uint32_t output = s->result[column - 1u] + output_offset, offset = weight_offset;
      weight_offset = column < s->columns ? offset + s->right_stride : 0u;
      const uint32_t behind = column < s->columns || row < s->rows ? s->right[0] + weight_offset : s->next_weights;
      for (uint32_t k = 0; k < s->inner; k++) {
        const int is_last = k + 1u == s->inner;
        const uint32_t next = is_last ? behind : s->right[k + 1u] + offset;
        const uint32_t ends = is_last ? 0u : OUTPUT_OFF;
        engine_acquire();
        if (jobs < MOST_CONTEXTS) write_constants(command);
        ita_write(INPUT_PTR, s->left[k] + input_offset);
        ita_write(WEIGHT_PTR0, weights);
        ita_write(WEIGHT_PTR1, next);
        ita_write(BIAS_PTR, bias);
        ita_write(OUTPUT_PTR, output);
        ita_write(CTRL_STREAM, s->stream | ends | (next == NONE ? 0u : NEXTLOAD) | (jobs == 0u ? PRELOAD : 0u));
        engine_trigger();
        weights = next;
        jobs++;
      }
      bias += s->bias_column;
    }
    first_bias += s->bias_row;
    input_offset += s->left_stride;
    output_offset += TILE_BYTES;
  }
  return jobs;
}

ita_ticket ita_submit(const struct ita_command *command) {
  const int is_attention = (command->control & 0xFFu) == ITA_ATTENTION;
  const uint32_t steps = is_attention ? 2u * command->rows : 1u;
  uint32_t jobs = 0;
  if (contexts_mislead(command)) make_contexts_harmless();
  for (uint32_t number = 0; number < steps; number++) {
    const struct step step = is_attention ? attention_step(command, number) : product_step(command);
    jobs = queue_step(command, &step, jobs);
  }
  sums_in_contexts = sums_in_contexts >> (command->sums_left >> 24) | (command->sums_left & 0xFFFFFFu);
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
