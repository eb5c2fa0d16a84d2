/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the NE16 model share: a decoded job, the engine's state.
 *
 * A job travels  peripheral.c (queue) -> job.c (decode, refuse) -> timing.c (when it ends) -> footprint.c (what it
 * touches) -> execute.c (what it computes), the last one when its end is reached. */
#ifndef NE16_MODEL_ENGINE_H
#define NE16_MODEL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tvm_pulp/array_job.h"

enum {
  NE16_PATCH = 3,            /* output rows and columns of a subtile */
  NE16_HALO = 2,             /* rows and columns an input window has more, in 3x3 modes */
  NE16_INPUT_BYTES = 16,     /* of a pixel and step */
  NE16_OUTPUT_CHANNELS = 32, /* accumulators per column of the array */
  NE16_LINEAR_WORDS = 16,    /* of NE16_INPUT_BYTES, a step of linear mode */
  NE16_TAPS = 9
};

struct ne16_options {
  uint32_t whole_windows; /* 1: borders take as long as whole subtiles, as in the public hardware sources */
  uint32_t bank_waits;    /* 1: stores wait for the banks of L1 that stores before them took */
};

enum ne16_mode { NE16_3X3 = 0, NE16_DEPTHWISE = 1, NE16_1X1 = 2, NE16_LINEAR = 6 };

struct ne16_job {
  enum ne16_mode mode;
  uint32_t weight_bits;
  bool wide_input; /* 16-bit activations */
  bool norm_quant, strided, stream_in, relu, shift_vector, bias;
  uint32_t scale_bytes;  /* 1, 2 or 4 */
  uint32_t output_bytes; /* 1 or 4 */
  uint32_t shift;

  struct array_dimension ki, ko, ho, wo; /* ki in bytes, in linear mode in words of 16 bytes */
  uint32_t hi_full, hi_last, wi_full, wi_last; /* loaded input window of a subtile */
  uint32_t pad_top, pad_right, pad_bottom, pad_left, pad_value;
  uint32_t mask_top, mask_right, mask_bottom, mask_left; /* rows and columns of the filter that do not count */
  int32_t weight_offset;

  struct array_places at;
};

/* Work buffers, grown on demand and kept between jobs. */
struct ne16_scratch {
  int16_t *weights; /* [output channels][taps][channels] of one Ko subtile */
  int32_t *window;  /* [rows][columns][channels] of one spatial subtile */
  size_t weights_capacity, window_capacity;
};

struct ne16_engine {
  struct job_queue queue; /* first: the front end passes it as the engine */
  struct ne16_options options;
  struct ne16_job job;
  struct ne16_scratch scratch;
};

static inline uint32_t ne16_kernel(const struct ne16_job *job) { return job->mode == NE16_3X3 || job->mode == NE16_DEPTHWISE ? 3 : 1; }
static inline bool ne16_is_depthwise(const struct ne16_job *job) { return job->mode == NE16_DEPTHWISE; }
/* Bytes of all input channels of a pixel, and their number. */
static inline uint32_t ne16_input_bytes(const struct ne16_job *job) {
  return array_dimension_total(&job->ki) * (job->mode == NE16_LINEAR ? NE16_INPUT_BYTES : 1);
}
static inline uint32_t ne16_input_channels(const struct ne16_job *job) { return ne16_input_bytes(job) >> job->wide_input; }
/* Bytes of one bit plane of a group of input channels. */
static inline uint32_t ne16_plane_bytes(const struct ne16_job *job) { return (job->wide_input ? 1u : 2u) * ne16_kernel(job) * ne16_kernel(job); }
/* A strided job keeps every second row and column. */
static inline uint32_t ne16_output_step(const struct ne16_job *job) { return job->strided ? 2 : 1; }

/* job.c: false after a fault. */
bool ne16_decode(struct ne16_engine *engine, const uint32_t *words, struct ne16_job *job);
uint64_t ne16_job_macs(const struct ne16_job *job);

/* timing.c */
uint64_t ne16_job_cycles(const struct ne16_options *options, const struct ne16_job *job);

/* banks.c */
uint64_t ne16_bank_waits(const struct ne16_job *job);

/* footprint.c: declares every range the job touches; false after a fault (a range outside the memory). */
bool ne16_claim(struct ne16_engine *engine, const struct ne16_job *job);
void ne16_count_traffic(struct ne16_engine *engine, const struct ne16_job *job);
/* First byte of the weights of an output channel (depthwise: of its group) and input group; plane by plane from there. */
uint32_t ne16_weights_at(const struct ne16_job *job, uint32_t channel, uint32_t group);

/* execute.c: false after a fault. */
bool ne16_execute(struct ne16_engine *engine, const struct ne16_job *job);

#endif /* NE16_MODEL_ENGINE_H */
