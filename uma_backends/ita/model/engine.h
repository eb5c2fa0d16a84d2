/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the ITA model share: sizes, a decoded job, the engine's state.
 *
 * A job travels  peripheral.c (queue) -> job.c (decode, refuse) -> sequence.c (which step of the layer it is) ->
 * stream.c (when it ends, beat by beat) -> execute.c (what it computes), the last one when its end is reached. */
#ifndef ITA_MODEL_ENGINE_H
#define ITA_MODEL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tvm_pulp/job_queue.h"

enum { ITA_TILE = 64, ITA_LANES = 16, ITA_BLOCKS = ITA_TILE / ITA_LANES };
enum { ITA_TILE_BYTES = ITA_TILE * ITA_TILE, ITA_BLOCK_BYTES = ITA_LANES * ITA_TILE, ITA_BIAS_BYTES = 3 * ITA_TILE };
enum { ITA_READ_LATENCY = 6, ITA_PRODUCT_BITS = 35 };
enum { ITA_BEAT_BYTES = 128, ITA_SLOTS = 8, ITA_JOB_WORDS = 17, ITA_MAX_CONTEXTS = 4 };

enum ita_layer { ITA_ATTENTION = 0, ITA_FEEDFORWARD = 1, ITA_LINEAR = 2, ITA_SINGLE_ATTENTION = 3 };
enum ita_activation { ITA_IDENTITY = 0, ITA_GELU = 1, ITA_RELU = 2 };
enum ita_step { ITA_IDLE, ITA_Q, ITA_K, ITA_V, ITA_QK, ITA_AV, ITA_OW, ITA_F1, ITA_F2, ITA_MATMUL, ITA_STEPS };

struct ita_options {
  uint32_t contexts; /* jobs that the queue holds */
};

struct ita_requant {
  uint32_t multiplier, shift;
  int32_t add;
};

struct ita_tiles {
  uint32_t s, e, p, f;
};

struct ita_job {
  uint32_t input, weights, next_weights, bias, output; /* addresses in L1 */
  struct ita_tiles tiles;
  enum ita_layer layer;
  enum ita_activation activation;
  bool preload, nextload, has_bias, bias_by_row, has_output;
  struct ita_requant slots[ITA_SLOTS], after; /* per step; behind the activation */
  int32_t gelu_b, gelu_c;
};

/* Where the engine is in a layer. It counts jobs by itself; software issues exactly the sequence it expects. */
struct ita_sequence {
  enum ita_step step;
  enum ita_layer layer;
  struct ita_tiles tiles;
  uint32_t inner, outer, group; /* of the step; the row tile of queries */
  bool is_lost;                 /* a job was aborted: only a reset brings the engine back into step */
};

/* One job, cycle by cycle: four streams share a port of one beat per cycle. */
enum ita_requester { ITA_INPUT, ITA_WEIGHT, ITA_BIAS, ITA_OUTPUT, ITA_REQUESTERS };

struct ita_stream {
  uint64_t start, cycle, port_free;
  uint32_t total[ITA_REQUESTERS], granted[ITA_REQUESTERS], arrived[ITA_REQUESTERS]; /* beats */
  uint32_t last_granted;
  uint32_t first_weights; /* beats of this job's own blocks */
  uint32_t loaded;        /* beats of weights in the double buffer, since the first block of this job */
  uint32_t rows, finished, paired, ready; /* rows accepted, computed, in beats of the output; beats to be written */
  uint32_t pipeline, pairs;               /* bit i: a row was accepted, a beat completed i cycles ago */
  /* Reads on their way, oldest first. */
  struct {
    uint64_t cycle;
    enum ita_requester requester;
  } flight[ITA_READ_LATENCY + 1];
  uint32_t in_flight;
};

struct ita_engine {
  struct job_queue queue; /* first: the front end passes it as the engine */
  struct ita_options options;
  struct ita_job job;
  struct ita_sequence sequence;
  struct ita_stream stream;

  /* What survives a job. */
  bool has_block;
  int8_t block[ITA_BLOCK_BYTES];
  uint32_t sums[ITA_TILE][ITA_TILE];
  int32_t largest[ITA_TILE];
  uint32_t denominator[ITA_TILE], inverse[ITA_TILE];
};

/* job.c: false after a fault. */
bool ita_decode(struct ita_engine *engine, const uint32_t *words, struct ita_job *job);
bool ita_claim(struct ita_engine *engine, const struct ita_job *job);
struct ita_tiles ita_decode_tiles(const uint32_t *words);

/* sequence.c: false after a fault (the job is not the one that the engine counts, or it loses count behind it). */
bool ita_sequence_enter(struct ita_engine *engine, const struct ita_job *job);
bool ita_sequence_leave(struct ita_engine *engine);
uint32_t ita_inner_count(const struct ita_sequence *sequence);
uint32_t ita_slot(enum ita_step step);

/* stream.c: steps through the cycle `stream.cycle`; true when the job is over, at `stream.cycle`. */
void ita_stream_start(struct ita_engine *engine, uint64_t cycle);
bool ita_stream_step(struct ita_engine *engine);

/* execute.c: false after a fault. */
bool ita_execute(struct ita_engine *engine, const struct ita_job *job);

/* arithmetic.c */
int32_t ita_requantize(int32_t value, struct ita_requant rule);
int32_t ita_wrap(uint32_t sum);
int32_t ita_activate(const struct ita_job *job, int32_t value);

#endif /* ITA_MODEL_ENGINE_H */
