/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the NE16 model share: a decoded job, the engine's state.
 *
 * A job travels  peripheral.c (queue) -> job.c (decode, refuse) -> timing.c (when it ends); what it touches and, when its
 * end is reached, computes is told by tvm_pulp/array_job.h and array_execute.h. */
#ifndef NE16_MODEL_ENGINE_H
#define NE16_MODEL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tvm_pulp/array_job.h"

enum {
  NE16_PATCH = 3,            /* output rows and columns of a subtile */
  NE16_INPUT_BYTES = 16,     /* of a pixel and step */
  NE16_OUTPUT_CHANNELS = 32, /* accumulators per column of the array */
  NE16_LINEAR_WORDS = 16,    /* of NE16_INPUT_BYTES, a step of linear mode */
  NE16_BANKS = 16            /* of L1 */
};

/* When each bank is free again, the present, and cycles waited so far. */
struct ne16_banks {
  uint64_t free_at[NE16_BANKS], now, waited;
};

struct ne16_options {
  uint32_t whole_windows; /* 1: borders take as long as whole subtiles, as in the public hardware sources */
  uint32_t bank_waits;    /* 1: stores wait for the banks of L1 that stores before them took */
};

struct ne16_engine {
  struct job_queue queue; /* first: the front end passes it as the engine */
  struct ne16_options options;
  struct array_job job;
  struct array_scratch scratch;
};

/* job.c: false after a fault. */
bool ne16_decode(struct ne16_engine *engine, const uint32_t *words, struct array_job *job);

/* timing.c */
uint64_t ne16_job_cycles(const struct ne16_options *options, const struct array_job *job);

/* banks.c: accesses of a subtile, by its place, and what they wait for each other. */
void ne16_take_banks(struct ne16_banks *banks, const struct array_job *job, uint32_t a, uint32_t i, uint32_t j);

#endif /* NE16_MODEL_ENGINE_H */
