/* SPDX-License-Identifier: Apache-2.0
 *
 * What a job computes: one 64x64x64 product on top of the partial sums, and behind the last inner tile bias,
 * requantization, activation, and the statistics of the streaming softmax. */
#include <string.h>

#include "engine.h"

static const uint8_t *bytes_at(struct ita_engine *engine, uint32_t address, uint32_t bytes) {
  return engine->queue.system.memory(engine->queue.system.context, TVM_PULP_PORT_L1, address, bytes);
}

/* Base-2 softmax: a step of the logits is an octave. */
static uint32_t halved(uint32_t value, int32_t times) { return times > 31 ? 0 : value >> times; }

/* The left operand of AV: probabilities, made of logits on the fly. */
static void normalize(const struct ita_engine *engine, const int8_t *logits, uint8_t *probabilities) {
  for (uint32_t row = 0; row < ITA_TILE; row++)
    for (uint32_t i = 0; i < ITA_TILE; i++)
      probabilities[row * ITA_TILE + i] =
          (uint8_t)halved(engine->inverse[row], engine->largest[row] - logits[row * ITA_TILE + i]);
}

/* One group of 16 logits of a row; groups of a row come in ascending order. */
static void take_group(struct ita_engine *engine, uint32_t row, const int8_t *group) {
  int32_t largest = engine->largest[row];
  for (uint32_t i = 0; i < ITA_LANES; i++) largest = group[i] > largest ? group[i] : largest;
  uint32_t sum = halved(engine->denominator[row], largest - engine->largest[row]);
  for (uint32_t i = 0; i < ITA_LANES; i++) sum += halved(256, largest - group[i]);
  engine->largest[row] = largest;
  engine->denominator[row] = sum & 0x7FFFFu;
}

static void begin_softmax(struct ita_engine *engine) {
  for (uint32_t row = 0; row < ITA_TILE; row++) {
    engine->largest[row] = -128;
    engine->denominator[row] = 0;
  }
}

static void end_softmax(struct ita_engine *engine) {
  for (uint32_t row = 0; row < ITA_TILE; row++)
    engine->inverse[row] = engine->denominator[row] ? 65280u / engine->denominator[row] : 0;
}

static void accumulate(struct ita_engine *engine, const uint8_t *input, bool is_unsigned, const int8_t *weights) {
  int32_t row_values[ITA_TILE];
  for (uint32_t row = 0; row < ITA_TILE; row++) {
    for (uint32_t i = 0; i < ITA_TILE; i++) {
      const uint8_t value = input[row * ITA_TILE + i];
      row_values[i] = is_unsigned ? value : (int8_t)value;
    }
    for (uint32_t column = 0; column < ITA_TILE; column++) {
      const int8_t *w = weights + column * ITA_TILE;
      int32_t sum = 0;
      for (uint32_t i = 0; i < ITA_TILE; i++) sum += row_values[i] * w[i];
      engine->sums[row][column] += (uint32_t)sum;
    }
  }
}

static int32_t bias_at(const uint8_t *bias, uint32_t index) {
  const uint8_t *b = bias + 3 * index;
  const uint32_t value = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16;
  return value >> 23 ? (int32_t)value - (1 << 24) : (int32_t)value;
}

static void write_out(struct ita_engine *engine, const struct ita_job *job, const uint8_t *bias, int8_t *output) {
  const struct ita_requant rule = job->slots[ita_slot(engine->sequence.step)];
  for (uint32_t row = 0; row < ITA_TILE; row++) {
    for (uint32_t column = 0; column < ITA_TILE; column++) {
      uint32_t sum = engine->sums[row][column];
      if (bias != NULL) sum += (uint32_t)bias_at(bias, job->bias_by_row ? row : column);
      output[row * ITA_TILE + column] = (int8_t)ita_activate(job, ita_requantize(ita_wrap(sum), rule));
    }
  }
}

bool ita_execute(struct ita_engine *engine, const struct ita_job *job) {
  const struct ita_sequence *q = &engine->sequence;
  const uint8_t *input = bytes_at(engine, job->input, ITA_TILE_BYTES);
  const uint8_t *stored = bytes_at(engine, job->weights, ITA_TILE_BYTES);
  if (input == NULL || stored == NULL) return false;
  int8_t weights[ITA_TILE_BYTES];
  uint8_t probabilities[ITA_TILE_BYTES];
  memcpy(weights, stored, sizeof weights);
  if (!job->preload) memcpy(weights, engine->block, sizeof engine->block);
  const bool is_unsigned = q->step == ITA_AV;
  if (is_unsigned) {
    normalize(engine, (const int8_t *)input, probabilities);
    input = probabilities;
  }
  if (q->inner == 0) memset(engine->sums, 0, sizeof engine->sums);
  accumulate(engine, input, is_unsigned, weights);

  /* The next block is fetched while this job runs, before its last rows are out. */
  engine->has_block = job->nextload;
  if (job->nextload) memcpy(engine->block, bytes_at(engine, job->next_weights, ITA_BLOCK_BYTES), ITA_BLOCK_BYTES);
  if (!job->has_output) return true;

  int8_t *output = (int8_t *)engine->queue.system.memory(engine->queue.system.context, TVM_PULP_PORT_L1, job->output, ITA_TILE_BYTES);
  const uint8_t *bias = job->has_bias ? bytes_at(engine, job->bias, ITA_BIAS_BYTES) : NULL;
  if (output == NULL) return false;
  write_out(engine, job, bias, output);
  if (q->step != ITA_QK) return true;
  if (q->outer == 0) begin_softmax(engine);
  for (uint32_t block = 0; block < ITA_BLOCKS; block++)
    for (uint32_t row = 0; row < ITA_TILE; row++) take_group(engine, row, output + row * ITA_TILE + block * ITA_LANES);
  if (q->outer + 1 == q->tiles.s) end_softmax(engine);
  return true;
}
