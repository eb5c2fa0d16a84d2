/* SPDX-License-Identifier: Apache-2.0
 *
 * What models of convolution arrays share: the 24 register words of a job, its dimensions in subtiles, and the ranges
 * of memory that it claims. */
#ifndef TVM_PULP_ARRAY_JOB_H
#define TVM_PULP_ARRAY_JOB_H

#include "tvm_pulp/job_queue.h"

enum array_job_word {
  WEIGHTS_PTR, INFEAT_PTR, OUTFEAT_PTR, SCALE_PTR, SCALE_SHIFT_PTR, SCALE_BIAS_PTR,
  INFEAT_D0, INFEAT_D1, INFEAT_D2, OUTFEAT_D0, OUTFEAT_D1, OUTFEAT_D2, WEIGHTS_D0, WEIGHTS_D1, WEIGHTS_D2,
  SUBTILE_REM0, SUBTILE_REM1, SUBTILE_REM2, SUBTILE_NB0, SUBTILE_NB1, PADDING, WEIGHT_OFFSET, FILTER_MASK, CONFIG0,
  ARRAY_JOB_WORDS
};

/* A job beyond these sizes fits no memory of a SoC; refusing it keeps a wild guest from stalling the host. */
#define ARRAY_LARGEST_OUTPUT (UINT64_C(1) << 20)
#define ARRAY_LARGEST_MACS (UINT64_C(1) << 33)

/* One dimension of a job: `count` subtiles, all of size `full` but the last one of size `last`. */
struct array_dimension {
  uint32_t count, full, last;
};

/* Pointers and strides as the registers hold them. */
struct array_places {
  uint32_t weights, input, output, scale, shifts, biases;
  uint32_t input_d0, input_d1, output_d0, output_d1, output_d2, weights_d0, weights_d1, weights_d2;
};

static inline uint32_t array_field(uint32_t word, unsigned low, unsigned bits) { return (word >> low) & ((1u << bits) - 1u); }

/* A remainder of 0 means "full". */
static inline struct array_dimension array_dimension(uint32_t count, uint32_t remainder, uint32_t full) {
  return (struct array_dimension){.count = count, .full = full, .last = remainder == 0 ? full : remainder};
}

static inline uint32_t array_dimension_size(const struct array_dimension *dimension, uint32_t index) {
  return index + 1 == dimension->count ? dimension->last : dimension->full;
}

static inline uint32_t array_dimension_total(const struct array_dimension *dimension) {
  return (dimension->count - 1) * dimension->full + dimension->last;
}

static inline struct array_places array_places(const uint32_t *words) {
  return (struct array_places){
      .weights = words[WEIGHTS_PTR], .input = words[INFEAT_PTR], .output = words[OUTFEAT_PTR],
      .scale = words[SCALE_PTR], .shifts = words[SCALE_SHIFT_PTR], .biases = words[SCALE_BIAS_PTR],
      .input_d0 = words[INFEAT_D0], .input_d1 = words[INFEAT_D1],
      .output_d0 = words[OUTFEAT_D0], .output_d1 = words[OUTFEAT_D1], .output_d2 = words[OUTFEAT_D2],
      .weights_d0 = words[WEIGHTS_D0], .weights_d1 = words[WEIGHTS_D1], .weights_d2 = words[WEIGHTS_D2],
  };
}

/* Ranges of one operand after the other, merged where they touch. */
struct array_claims {
  struct job_queue *queue;
  enum tvm_pulp_port port;
  const char *operand;
  uint32_t start, bytes;
  bool is_write, valid;
};

static inline void array_claims_end(struct array_claims *claims) {
  if (claims->bytes == 0 || !claims->valid) return;
  claims->valid =
      job_queue_claim(claims->queue, claims->operand, claims->port, claims->start, claims->bytes, claims->is_write);
  claims->bytes = 0;
}

static inline void array_claim(struct array_claims *claims, uint32_t address, uint32_t bytes) {
  const uint64_t end = (uint64_t)claims->start + claims->bytes;
  if (claims->bytes != 0 && address >= claims->start && address <= end) {
    const uint64_t grown = (uint64_t)address + bytes;
    if (grown > end) claims->bytes = (uint32_t)(grown - claims->start);
    return;
  }
  array_claims_end(claims);
  claims->start = address;
  claims->bytes = bytes;
}

static inline void array_claim_operand(struct array_claims *claims, const char *operand, bool is_write) {
  array_claims_end(claims);
  claims->operand = operand;
  claims->is_write = is_write;
}

/* What the array's own rounding reads for its channels. */
static inline void array_claim_rounding(struct array_claims *claims, const struct array_places *at, uint32_t channels,
                                        uint32_t scale_bytes, bool has_bias, bool has_shifts) {
  array_claim_operand(claims, "scale", false);
  array_claim(claims, at->scale, channels * scale_bytes);
  array_claim_operand(claims, "bias", false);
  if (has_bias) array_claim(claims, at->biases, channels * 4);
  array_claim_operand(claims, "shift", false);
  if (has_shifts) array_claim(claims, at->shifts, channels);
}

/* Rows (or columns) read from memory: all loaded ones that padding does not overwrite. */
static inline uint32_t array_loaded_end(const struct array_dimension *output, uint32_t full, uint32_t last,
                                        uint32_t padding) {
  uint32_t end = (output->count - 1) * output->full + (last < full - padding ? last : full - padding);
  /* The last but one subtile loads its full window, even where the last one does not. */
  if (output->count > 1) {
    const uint32_t before = (output->count - 2) * output->full + full;
    if (before > end) end = before;
  }
  return end;
}

#endif
