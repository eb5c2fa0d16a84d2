/* SPDX-License-Identifier: Apache-2.0
 *
 * From 17 register words to a decoded job, and the bytes it touches. */
#include "engine.h"

enum ita_job_word {
  INPUT_PTR, WEIGHT_PTR0, WEIGHT_PTR1, BIAS_PTR, OUTPUT_PTR, SEQ_LENGTH, TILES, EPS_MULT0, EPS_MULT1, RIGHT_SHIFT0,
  RIGHT_SHIFT1, ADD0, ADD1, CTRL_ENGINE, CTRL_STREAM, GELU_B_C, ACT_REQUANT,
};

static uint32_t field(uint32_t word, unsigned low, unsigned bits) { return (word >> low) & ((1u << bits) - 1u); }

/* A field of 0 is treated as 1. */
static uint32_t tiles(uint32_t word, unsigned low) { return field(word, low, 4) ? field(word, low, 4) : 1; }

struct ita_tiles ita_decode_tiles(const uint32_t *words) {
  const uint32_t word = words[TILES];
  return (struct ita_tiles){tiles(word, 0), tiles(word, 4), tiles(word, 8), tiles(word, 12)};
}

static int32_t byte(uint32_t word, unsigned low) { return (int8_t)(uint8_t)field(word, low, 8); }

/* Pointers count from the start of L1, and the streamers drop their two lowest bits. */
static uint32_t address(uint32_t pointer) { return pointer & ~3u; }

bool ita_decode(struct ita_engine *engine, const uint32_t *words, struct ita_job *job) {
  const uint32_t control = words[CTRL_ENGINE], stream = words[CTRL_STREAM];
  *job = (struct ita_job){
      .input = address(words[INPUT_PTR]),
      .weights = address(words[WEIGHT_PTR0]),
      .next_weights = address(words[WEIGHT_PTR1]),
      .bias = address(words[BIAS_PTR]),
      .output = address(words[OUTPUT_PTR]),
      .tiles = ita_decode_tiles(words),
      .layer = (enum ita_layer)field(control, 0, 2),
      .activation = (enum ita_activation)field(control, 2, 2),
      .preload = field(stream, 0, 1),
      .nextload = field(stream, 1, 1),
      .has_bias = !field(stream, 2, 1),
      .bias_by_row = field(stream, 3, 1),
      .has_output = !field(stream, 4, 1),
      .gelu_b = (int16_t)(uint16_t)field(words[GELU_B_C], 0, 16),
      .gelu_c = (int16_t)(uint16_t)field(words[GELU_B_C], 16, 16),
      .after = {field(words[ACT_REQUANT], 0, 8), field(words[ACT_REQUANT], 8, 8), byte(words[ACT_REQUANT], 16)},
  };
  for (uint32_t i = 0; i < ITA_SLOTS; i++) {
    const uint32_t word = i / 4;
    const unsigned low = 8 * (i % 4);
    job->slots[i] = (struct ita_requant){field(words[EPS_MULT0 + word], low, 8),
                                         field(words[RIGHT_SHIFT0 + word], low, 8), byte(words[ADD0 + word], low)};
  }
  if (field(control, 2, 2) == 3) {
    job_queue_fault(&engine->queue, "ITA activation 3 is reserved, use 0 (identity), 1 (GELU) or 2 (ReLU)");
    return false;
  }
  return true;
}

static bool claim(struct ita_engine *engine, const char *operand, uint32_t start, uint32_t bytes, bool is_write) {
  return job_queue_claim(&engine->queue, operand, TVM_PULP_PORT_L1, start, bytes, is_write);
}

/* The bias streamer also fetches 32 bytes past the end of a vector; they are masked and not claimed. */
bool ita_claim(struct ita_engine *engine, const struct ita_job *job) {
  const uint32_t known = job->preload ? 0 : ITA_BLOCK_BYTES;
  return claim(engine, "input", job->input, ITA_TILE_BYTES, false) &&
         claim(engine, "weight", job->weights + known, ITA_TILE_BYTES - known, false) &&
         (!job->nextload || claim(engine, "next weight", job->next_weights, ITA_BLOCK_BYTES, false)) &&
         (!job->has_bias || claim(engine, "bias", job->bias, ITA_BIAS_BYTES, false)) &&
         (!job->has_output || claim(engine, "output", job->output, ITA_TILE_BYTES, true));
}
