/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the NEUREKA model share: array geometry, a decoded job, the engine's state.
 *
 * A job travels  peripheral.c (queue) -> job.c (decode, refuse) -> walk.c (when it ends, access by access, by the phases of
 * timing.c); what it touches and, when its end is reached, computes is told by tvm_pulp/array_job.h and array_execute.h. */
#ifndef NEUREKA_MODEL_ENGINE_H
#define NEUREKA_MODEL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tvm_pulp/array_job.h"

/* Upper limits of the geometry parameters; they size the fixed buffers. */
enum { NEUREKA_MAX_PE_ROWS = 16, NEUREKA_MAX_PE_COLUMNS = 16, NEUREKA_MAX_CHANNELS = 64 };

struct neureka_geometry {
  uint32_t pe_rows;           /* output rows of a subtile */
  uint32_t pe_columns;        /* output columns of a subtile */
  uint32_t channels_1x1;      /* input channels of a subtile in 1x1 mode */
  uint32_t channels_3x3;      /* input channels of a subtile in both 3x3 modes */
  uint32_t output_channels;   /* accumulators per processing element */
  uint32_t weight_beat_bytes; /* one beat of the weight port */
  uint32_t signed_input;      /* 0: activations are unsigned, as in the public hardware sources */
};

struct neureka_options {
  struct neureka_geometry geometry;
  uint32_t gvsoc_dw_wmem_quirk; /* 1: bill depthwise weights from weight memory once per channel, as the public model */
  uint32_t timing_revision;     /* of the public model, year and month; NEUREKA_RTL: the public hardware sources */
  uint32_t beat_w;              /* thousandths of a cycle per weight beat */
  uint32_t beat_x;              /* thousandths of a cycle per activation beat */
};

/* Timing revision of the public hardware sources, as measured on them. */
enum { NEUREKA_RTL = 0 };

/* Where a job that goes access by access is. The phases are those of one spatial subtile, in order. */
enum neureka_phase { NEUREKA_STREAM_IN, NEUREKA_LOAD, NEUREKA_WEIGHTS, NEUREKA_SHIFT, NEUREKA_SCALE, NEUREKA_BIAS,
                     NEUREKA_STREAM_OUT };

/* One pass of input channels through the array. */
struct neureka_step {
  uint32_t ko, ho, wo, ki;
};

/* Cycles of the phases of one Ko subtile; what streams from L1 access by access is not in them. */
struct neureka_phases {
  uint64_t load;     /* before the pixels of a step */
  uint64_t offset;   /* between the pixels and the first weight beat */
  uint64_t weights;  /* weight beats of a step */
  uint64_t step_end; /* behind the weight beats */
  uint64_t last_end; /* the same of the last step, which has nothing to hide behind */
  uint32_t scale_beats, bias_beats;
  uint64_t shift, scale, bias, output; /* behind the accesses of the phase */
};

struct neureka_walk {
  enum neureka_phase phase;
  struct neureka_phases phases;         /* of the Ko subtile */
  struct neureka_step step, loaded;     /* what is computed, and whose pixels are read */
  uint32_t row, column, beat;           /* inside the phase */
  uint64_t cycle;                       /* of the next access */
  uint64_t load_cycles, compute_cycles; /* with prefetch: of the last load, and of what it hides */
  uint64_t compute_end;                 /* RTL with prefetch: of the step beside whose weights pixels are read, or 0 */
};

struct neureka_engine {
  struct job_queue queue; /* first: the front end passes it as the engine */
  struct neureka_options options;
  struct array_job job;
  struct neureka_walk walk;
  struct array_scratch scratch;
};

/* Cycle constants of the public model before April 2026. */
static inline bool neureka_is_early(const struct neureka_options *options) { return options->timing_revision == 202603; }

static inline bool neureka_is_rtl(const struct neureka_options *options) { return options->timing_revision == NEUREKA_RTL; }

/* job.c: false after a fault. */
bool neureka_decode(struct neureka_engine *engine, const uint32_t *words, struct array_job *job);

/* timing.c */
enum { NEUREKA_RTL_UPDATE = 2 }; /* cycles of the update of indices, the last ones of an RTL step */
uint64_t neureka_load_cycles(const struct neureka_options *options, const struct array_job *job, uint32_t hi,
                             uint32_t wi);
struct neureka_phases neureka_phases(const struct neureka_options *options, const struct array_job *job,
                                     uint32_t ko_index);
/* walk.c: `walk.cycle` is the next access, or the end of the job when the last one is done (then true). */
void neureka_walk_start(struct neureka_engine *engine, uint64_t cycle);
bool neureka_walk_step(struct neureka_engine *engine);

/* weights.c: unpack the beat of a 1x1 group of input channels into one byte per weight. */
void neureka_unpack_pointwise(const uint8_t *const *beats, unsigned bits, size_t channels, uint8_t *weights);

#endif /* NEUREKA_MODEL_ENGINE_H */
