/* SPDX-License-Identifier: Apache-2.0
 *
 * What models of convolution arrays share: the 24 register words of a job, what they say, and the ranges of memory that
 * it claims. A model refuses what its array cannot do. */
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

enum { ARRAY_CONTEXTS = 2 };

/* Rules of the queue of an array; `step_` is NULL where the end of a job is known ahead. */
#define ARRAY_QUEUE_RULES(name_, start_, step_, finish_)                                                            \
  {.name = (name_), .job_words = ARRAY_JOB_WORDS, .ticket_bits = 8,                                                 \
   .ignored_words = 2, /* the public simulator's trace verbosity: programs built for it write them */               \
   .trigger_answer = 0xDEADBEEFu, .clear_keeps_counts = true, .start = (start_), .step = (step_), .finish = (finish_)}

/* Filter modes; not all arrays have the linear one. */
enum array_mode { ARRAY_3X3 = 0, ARRAY_DEPTHWISE = 1, ARRAY_1X1 = 2, ARRAY_LINEAR = 6 };
enum { ARRAY_TAPS = 9, ARRAY_HALO = 2, ARRAY_LARGEST_MASK = 3 };

/* How packed weights lie: the filter of an output channel (depthwise: of a subtile of them) in groups of input channels,
 * plane by plane. As in hardware, the step between Ko and Ki subtiles follows from the counts; the stride registers only act
 * within a subtile. Packed tensors make both agree. */
struct array_filters {
  uint32_t groups, channels; /* of a filter; of a group */
  uint32_t planes, plane_bytes, plane_stride;
  uint32_t group_stride, major_stride; /* bytes to the next group and to the next Ko subtile */
};

/* A decoded job; what an array does not have stays zero. */
struct array_job {
  enum array_mode mode;
  uint32_t weight_bits;
  bool norm_quant, weight_memory, prefetch, strided, stream_in, relu, shift_vector, bias, input_signed;
  uint32_t value_bytes;  /* of an activation, 1 or 2 */
  uint32_t scale_bytes;  /* 1, 2 or 4 */
  uint32_t output_bytes; /* 1 or 4; 0: none that arrays know */
  uint32_t shift;

  struct array_dimension ki, ko, ho, wo;
  uint32_t ki_bytes; /* of what ki counts */
  uint32_t hi_full, hi_last, wi_full, wi_last; /* loaded input window of a subtile */
  uint32_t pad_top, pad_right, pad_bottom, pad_left, pad_value;
  uint32_t mask_top, mask_right, mask_bottom, mask_left; /* rows and columns of the filter that do not count */
  int32_t weight_offset; /* accumulation is modulo 2^32 */

  struct array_places at;
  struct array_filters filters;
};

/* Work buffers, grown on demand and kept between jobs. */
struct array_scratch {
  int16_t *weights; /* [output channels][depth] of one Ko subtile */
  int16_t *patches; /* [pixels][depth] of one spatial subtile */
  int16_t *window;  /* [rows][columns][channels] of one spatial subtile */
  size_t weights_capacity, patches_capacity, window_capacity;
};

/* Sizes of full subtiles. */
struct array_subtiles {
  uint32_t ki, ko, ho, wo;
};

static inline bool array_is_depthwise(const struct array_job *job) { return job->mode == ARRAY_DEPTHWISE; }
static inline uint32_t array_kernel(const struct array_job *job) {
  return job->mode == ARRAY_3X3 || job->mode == ARRAY_DEPTHWISE ? 3 : 1;
}
static inline uint32_t array_taps(const struct array_job *job) { return array_kernel(job) * array_kernel(job); }
/* Bytes of all input channels of a pixel. */
static inline uint32_t array_input_bytes(const struct array_job *job) {
  return array_dimension_total(&job->ki) * job->ki_bytes;
}
/* A strided job keeps every second row and column. */
static inline uint32_t array_output_step(const struct array_job *job) { return job->strided ? 2 : 1; }
static inline uint32_t array_kept(const struct array_job *job, uint32_t computed) {
  return (computed + array_output_step(job) - 1) / array_output_step(job);
}
static inline uint64_t array_outputs(const struct array_job *job) {
  return (uint64_t)array_kept(job, array_dimension_total(&job->ho)) * array_kept(job, array_dimension_total(&job->wo)) *
         array_dimension_total(&job->ko);
}
static inline uint64_t array_job_macs(const struct array_job *job) {
  const uint32_t depth = array_is_depthwise(job) ? 1 : array_input_bytes(job) / job->value_bytes;
  return array_outputs(job) * array_taps(job) * depth;
}
/* First byte of the weights of an output channel of a Ko subtile (depthwise: of all) and a group of input channels. */
static inline uint32_t array_weights_at(const struct array_job *job, uint32_t major, uint32_t channel, uint32_t group) {
  const struct array_filters *filters = &job->filters;
  return job->at.weights + major * filters->major_stride + channel * job->at.weights_d1 + group * filters->group_stride;
}
/* Output channels of a Ko subtile that have filters of their own. */
static inline uint32_t array_filter_count(const struct array_job *job, uint32_t major) {
  return array_is_depthwise(job) ? 1 : array_dimension_size(&job->ko, major);
}

/* Sentences begin with the name of the array. */
#define ARRAY_REFUSE(queue, text) JOB_QUEUE_REFUSE(queue, "%s %s", (queue)->rules->name, text)

static inline bool array_decode_config(struct job_queue *queue, uint32_t config, struct array_job *job) {
  const uint32_t mode = array_field(config, 5, 2), output = array_field(config, 21, 2);
  if (array_field(config, 0, 3) == 0) ARRAY_REFUSE(queue, "weight width is 1 bit, use 2 to 8 bits");
  if (mode == 3) ARRAY_REFUSE(queue, "filter mode 3 is reserved, use 0 (3x3), 1 (depthwise) or 2 (1x1)");
  job->weight_bits = array_field(config, 0, 3) + 1;
  job->value_bytes = job->ki_bytes = 1;
  job->norm_quant = array_field(config, 4, 1);
  job->mode = (enum array_mode)mode;
  job->scale_bytes = 1u << array_field(config, 12, 2);
  job->stream_in = array_field(config, 14, 1);
  job->shift = array_field(config, 16, 5);
  job->output_bytes = output == 0 ? 1 : output == 2 ? 4 : 0;
  job->relu = !array_field(config, 23, 1);
  job->shift_vector = array_field(config, 24, 1);
  job->bias = array_field(config, 25, 1);
  return true;
}

/* What 32-bit outputs are needed for. */
static inline bool array_check_output(struct job_queue *queue, const struct array_job *job) {
  if (job->stream_in && job->output_bytes != 4) ARRAY_REFUSE(queue, "stream-in needs 32-bit output, set CONFIG0[22:21] to 2");
  if (!job->norm_quant && job->output_bytes != 4) {
    ARRAY_REFUSE(queue, "raw accumulators need 32-bit output, set CONFIG0[22:21] to 2 or CONFIG0[4]");
  }
  return true;
}

static inline bool array_decode_sizes(struct job_queue *queue, const uint32_t *words, struct array_subtiles full,
                                      struct array_job *job) {
  job->ki = array_dimension(array_field(words[SUBTILE_NB0], 0, 16), array_field(words[SUBTILE_REM0], 0, 16), full.ki);
  job->ko = array_dimension(array_field(words[SUBTILE_NB0], 16, 16), array_field(words[SUBTILE_REM0], 16, 16), full.ko);
  job->ho = array_dimension(array_field(words[SUBTILE_NB1], 16, 16), array_field(words[SUBTILE_REM1], 16, 16), full.ho);
  job->wo = array_dimension(array_field(words[SUBTILE_NB1], 0, 16), array_field(words[SUBTILE_REM1], 0, 16), full.wo);
  if (job->ki.count == 0 || job->ko.count == 0 || job->ho.count == 0 || job->wo.count == 0) {
    ARRAY_REFUSE(queue, "job has a dimension of 0 subtiles, write at least 1 into every SUBTILE_NB field");
  }
  if (job->ki.last > job->ki.full || job->ko.last > job->ko.full || job->ho.last > job->ho.full ||
      job->wo.last > job->wo.full) {
    ARRAY_REFUSE(queue, "subtile remainder is larger than a subtile, see SUBTILE_REM0 and SUBTILE_REM1");
  }
  if (array_is_depthwise(job) && (job->ki.count != job->ko.count || job->ki.last != job->ko.last)) {
    ARRAY_REFUSE(queue, "depthwise needs equal input and output channel subtiles, see SUBTILE_NB0 and SUBTILE_REM0");
  }
  return true;
}

static inline bool array_decode_window(struct job_queue *queue, const uint32_t *words, struct array_job *job) {
  job->hi_full = job->ho.full + array_kernel(job) - 1;
  job->wi_full = job->wo.full + array_kernel(job) - 1;
  job->hi_last = array_dimension(1, array_field(words[SUBTILE_REM2], 16, 16), job->hi_full).last;
  job->wi_last = array_dimension(1, array_field(words[SUBTILE_REM2], 0, 16), job->wi_full).last;
  if (job->hi_last > job->hi_full || job->wi_last > job->wi_full) {
    ARRAY_REFUSE(queue, "input remainder is larger than the input buffer, see SUBTILE_REM2");
  }
  const uint64_t pixels = (uint64_t)array_dimension_total(&job->ho) * array_dimension_total(&job->wo);
  if (pixels > ARRAY_LARGEST_OUTPUT || pixels * array_dimension_total(&job->ko) > ARRAY_LARGEST_OUTPUT ||
      array_job_macs(job) > ARRAY_LARGEST_MACS) {
    ARRAY_REFUSE(queue, "job is larger than any memory it could work on, see SUBTILE_NB0 and SUBTILE_NB1");
  }
  return true;
}

static inline bool array_decode_padding(struct job_queue *queue, uint32_t word, struct array_job *job) {
  job->pad_top = array_field(word, 28, 4);
  job->pad_right = array_field(word, 24, 4);
  job->pad_bottom = array_field(word, 20, 4);
  job->pad_left = array_field(word, 16, 4);
  job->pad_value = array_field(word, 0, 8 * job->value_bytes);
  if (array_kernel(job) == 1 && word >> 16 != 0) ARRAY_REFUSE(queue, "1x1 jobs cannot be padded, write 0 into PADDING[31:16]");
  if (job->pad_top > ARRAY_HALO || job->pad_right > ARRAY_HALO || job->pad_bottom > ARRAY_HALO ||
      job->pad_left > ARRAY_HALO) {
    ARRAY_REFUSE(queue, "pads at most 2 pixels per side, see PADDING");
  }
  return true;
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

static inline void array_claim_input(struct array_claims *claims, const struct array_job *job) {
  const uint32_t rows = array_loaded_end(&job->ho, job->hi_full, job->hi_last, job->pad_bottom);
  const uint32_t columns = array_loaded_end(&job->wo, job->wi_full, job->wi_last, job->pad_right);
  for (uint32_t y = job->pad_top; y < rows && claims->valid; y++) {
    for (uint32_t x = job->pad_left; x < columns && claims->valid; x++) {
      array_claim(claims, job->at.input + y * job->at.input_d1 + x * job->at.input_d0, array_input_bytes(job));
    }
  }
}

static inline void array_claim_output(struct array_claims *claims, const struct array_job *job) {
  const uint32_t rows = array_dimension_total(&job->ho), columns = array_dimension_total(&job->wo);
  const uint32_t bytes = array_dimension_total(&job->ko) * job->output_bytes, step = array_output_step(job);
  for (uint32_t y = 0; y < rows && claims->valid; y += step) {
    for (uint32_t x = 0; x < columns && claims->valid; x += step) {
      array_claim(claims, job->at.output + y * job->at.output_d2 + x * job->at.output_d1, bytes);
    }
  }
}

static inline void array_claim_weights(struct array_claims *claims, const struct array_job *job) {
  const struct array_filters *filters = &job->filters;
  for (uint32_t major = 0; major < job->ko.count && claims->valid; major++) {
    for (uint32_t channel = 0; channel < array_filter_count(job, major) && claims->valid; channel++) {
      for (uint32_t group = 0; group < filters->groups && claims->valid; group++) {
        const uint32_t start = array_weights_at(job, major, channel, group);
        for (uint32_t plane = 0; plane < filters->planes; plane++) {
          array_claim(claims, start + plane * filters->plane_stride, filters->plane_bytes);
        }
      }
    }
  }
}

/* Declare every range a job touches to the system; false after a fault (a range outside the memory).
 *
 * Ranges are exact (a slice of channels claims only that slice) and merged where they touch. The hardware also fetches
 * bytes it then masks, up to a beat past an operand, and pixels of the window that do not exist; those cannot change a
 * result and are not claimed. */
static inline bool array_claim_job(struct job_queue *queue, const struct array_job *job) {
  const uint32_t channels = array_dimension_total(&job->ko);
  struct array_claims claims = {.queue = queue, .port = TVM_PULP_PORT_L1, .operand = "input", .valid = true};
  array_claim_input(&claims, job);
  if (job->norm_quant) {
    array_claim_operand(&claims, "scale", false);
    array_claim(&claims, job->at.scale, channels * job->scale_bytes);
    array_claim_operand(&claims, "bias", false);
    if (job->bias) array_claim(&claims, job->at.biases, channels * 4);
    array_claim_operand(&claims, "shift", false);
    if (job->shift_vector) array_claim(&claims, job->at.shifts, channels);
  }
  array_claim_operand(&claims, "output", true);
  array_claim_output(&claims, job);
  array_claim_operand(&claims, "weight", false);
  claims.port = job->weight_memory ? TVM_PULP_PORT_WEIGHT : TVM_PULP_PORT_L1;
  array_claim_weights(&claims, job);
  array_claims_end(&claims);
  return claims.valid;
}

/* Count what a job computed and moved: activations once per Ko subtile, weights of so many filters and parameters once per spatial
 * subtile. `whole`: pixels of windows that do not exist are fetched too and masked, which takes banks and energy. */
static inline void array_count_job(struct job_queue *queue, const struct array_job *job, bool whole, uint64_t filters) {
  const uint64_t rows = (uint64_t)(job->ho.count - 1) * job->hi_full + (whole ? job->hi_full : job->hi_last);
  const uint64_t columns = (uint64_t)(job->wo.count - 1) * job->wi_full + (whole ? job->wi_full : job->wi_last);
  const uint64_t subtiles = (uint64_t)job->ho.count * job->wo.count, channels = array_dimension_total(&job->ko);
  uint64_t l1 = rows * columns * array_input_bytes(job) * (array_is_depthwise(job) ? 1 : job->ko.count);
  l1 += array_outputs(job) * job->output_bytes * (job->stream_in ? 2 : 1);
  if (job->norm_quant) {
    l1 += subtiles * channels * (job->scale_bytes + (job->bias ? 4u : 0u) + (job->shift_vector ? 1u : 0u));
  }
  const uint64_t filter_bytes = (uint64_t)job->filters.groups * job->filters.planes * job->filters.plane_bytes;
  const uint64_t weights = subtiles * filters * filter_bytes;
  queue->statistics.l1_bytes += l1 + (job->weight_memory ? 0 : weights);
  queue->statistics.weight_bytes += job->weight_memory ? weights : 0;
  queue->statistics.macs += array_job_macs(job);
}

#endif /* TVM_PULP_ARRAY_JOB_H */
