/* SPDX-License-Identifier: Apache-2.0
 *
 * What a job of a convolution array computes, subtile by subtile in the hardware's order (Ko, Ho, Wo) so that a job which
 * overwrites its own input behaves like the hardware. The Ki loop is folded into one matrix product: sums are modulo 2^32,
 * so their order does not matter. Activations of 16 bits are bytes, multiplied one after the other. */
#ifndef TVM_PULP_ARRAY_EXECUTE_H
#define TVM_PULP_ARRAY_EXECUTE_H

#include <stdlib.h>
#include <string.h>

#include "tvm_pulp/array_arithmetic.h"
#include "tvm_pulp/array_job.h"

/* Of a subtile, whatever the array. */
enum { ARRAY_MAX_PIXELS = 256 };

/* Unpacks weights to one byte each; `planes` holds pointers to the planes of a group of input channels. */
typedef void array_unpack(const uint8_t *const *planes, unsigned bits, size_t count, uint8_t *weights);

struct array_subtile {
  struct job_queue *queue;
  struct array_scratch *scratch;
  const struct array_job *job;
  array_unpack *unpack;
  uint32_t channels;             /* input channels held per pixel of the window */
  size_t depth;                  /* elements of a patch and of an unpacked filter */
  uint32_t major, ko_first, ko;  /* Ko subtile, its first output channel and their number */
  uint32_t weight_rest;          /* weight offset that the unpacked weights do not contain */
  struct array_rounding rounding;
};

static inline size_t array_round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

static inline int16_t *array_grow(struct job_queue *queue, int16_t **buffer, size_t *capacity, size_t count) {
  if (*capacity < count) {
    free(*buffer);
    *buffer = aligned_alloc(64, array_round_up(count * sizeof **buffer, 64));
    *capacity = *buffer == NULL ? 0 : count;
    if (*buffer == NULL) job_queue_fault(queue, "no memory left to simulate a %s job", queue->rules->name);
  }
  return *buffer;
}

static inline uint8_t *array_memory(struct job_queue *queue, enum tvm_pulp_port port, uint32_t address, uint32_t bytes) {
  uint8_t *bytes_at = queue->system.memory(queue->system.context, port, address, bytes);
  if (bytes_at == NULL) {
    job_queue_fault(queue, "%s access to 0x%08x with %u bytes left the memory", queue->rules->name, address, bytes);
  }
  return bytes_at;
}

static inline uint32_t array_read_value(const uint8_t *bytes, uint32_t count) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < count; i++) value |= (uint32_t)bytes[i] << (8 * i);
  return value;
}

static inline bool array_is_masked(const struct array_job *job, uint32_t row, uint32_t column) {
  return row < job->mask_top || row + job->mask_bottom >= ARRAY_LARGEST_MASK || column < job->mask_left ||
         column + job->mask_right >= ARRAY_LARGEST_MASK;
}

/* A group of input channels of a filter, some of them at a time: `added` is in the weights then. */
static inline bool array_unpack_group(struct array_subtile *s, uint32_t channel, uint32_t group, int16_t added) {
  const struct array_job *job = s->job;
  const struct array_filters *f = &job->filters;
  const enum tvm_pulp_port port = job->weight_memory ? TVM_PULP_PORT_WEIGHT : TVM_PULP_PORT_L1;
  const uint32_t kernel = array_kernel(job);
  int16_t *filter = s->scratch->weights + channel * s->depth + group * f->channels;
  uint8_t unpacked[ARRAY_TAPS * ARRAY_MAX_CHANNELS];
  for (uint32_t first = 0; first < f->channels; first += ARRAY_MAX_CHANNELS, filter += ARRAY_MAX_CHANNELS) {
    const uint32_t left = f->channels - first, count = left < ARRAY_MAX_CHANNELS ? left : ARRAY_MAX_CHANNELS;
    const uint32_t address = array_weights_at(job, s->major, channel, group) + first / 8;
    const uint8_t *planes[8];
    for (uint32_t plane = 0; plane < f->planes; plane++) {
      planes[plane] = array_memory(s->queue, port, address + plane * f->plane_stride, f->plane_bytes - first / 8);
      if (planes[plane] == NULL) return false;
    }
    s->unpack(planes, job->weight_bits, (size_t)array_taps(job) * count, unpacked);
    for (uint32_t tap = 0; tap < array_taps(job); tap++) {
      int16_t *row = filter + tap * s->channels;
      if (array_is_masked(job, tap / kernel, tap % kernel)) continue;
      for (uint32_t c = 0; c < count; c++) row[c] = (int16_t)(unpacked[tap * count + c] + added);
    }
  }
  return true;
}

/* Filters of a Ko subtile as [output channel][tap][input channel]; depthwise: [tap][channel]. */
static inline bool array_unpack_weights(struct array_subtile *s) {
  const struct array_job *job = s->job;
  const uint32_t count = array_filter_count(job, s->major);
  const size_t rows = array_is_depthwise(job) ? 1 : array_round_up(count, ARRAY_ROW_ALIGNMENT);
  int16_t *filters = array_grow(s->queue, &s->scratch->weights, &s->scratch->weights_capacity, rows * s->depth);
  if (filters == NULL) return false;
  memset(filters, 0, rows * s->depth * sizeof *filters);
  /* Offsets of every sensible kind keep the weights within 10 bits; any other is added after the product. */
  const bool fold = job->weight_offset >= -256 && job->weight_offset <= 255;
  s->weight_rest = fold ? 0 : (uint32_t)job->weight_offset;
  for (uint32_t channel = 0; channel < count; channel++) {
    for (uint32_t group = 0; group < job->filters.groups; group++) {
      if (!array_unpack_group(s, channel, group, (int16_t)(fold ? job->weight_offset : 0))) return false;
    }
  }
  return true;
}

/* The padded input window of one spatial subtile as [row][column][channel], one byte of every activation. */
static inline bool array_load_window(struct array_subtile *s, uint32_t i, uint32_t j, uint32_t byte) {
  const struct array_job *job = s->job;
  const bool last_row = i + 1 == job->ho.count, last_column = j + 1 == job->wo.count;
  const uint32_t hi = last_row ? job->hi_last : job->hi_full, wi = last_column ? job->wi_last : job->wi_full;
  /* Top and left padding exist in the first subtile. Bottom and right rows are normally not loaded at all and stay
   * zero; only where the remainder does load them they take the padding value. */
  const uint32_t top = i == 0 ? job->pad_top : 0, left = j == 0 ? job->pad_left : 0;
  const uint32_t bottom = job->hi_full - (last_row ? job->pad_bottom : 0);
  const uint32_t right = job->wi_full - (last_column ? job->pad_right : 0);
  const uint32_t step = job->value_bytes, valid = array_is_depthwise(job) ? s->ko : array_input_bytes(job) / step;
  const uint8_t pad_value = (uint8_t)(job->pad_value >> (8 * byte));
  const int16_t padding = job->input_signed ? (int16_t)(int8_t)pad_value : (int16_t)pad_value;

  const size_t count = (size_t)job->hi_full * job->wi_full * s->channels;
  int16_t *window = array_grow(s->queue, &s->scratch->window, &s->scratch->window_capacity, count);
  if (window == NULL) return false;
  memset(window, 0, count * sizeof *window);
  for (uint32_t y = 0; y < hi; y++) {
    for (uint32_t x = 0; x < wi; x++) {
      int16_t *pixel = window + ((size_t)y * job->wi_full + x) * s->channels;
      if (y < top || y >= bottom || x < left || x >= right) {
        for (uint32_t c = 0; c < valid; c++) pixel[c] = padding;
        continue;
      }
      const uint32_t address = job->at.input + (i * job->ho.full + y) * job->at.input_d1 +
                               (j * job->wo.full + x) * job->at.input_d0 + (array_is_depthwise(job) ? s->ko_first : 0);
      const uint8_t *bytes = array_memory(s->queue, TVM_PULP_PORT_L1, address, valid * step);
      if (bytes == NULL) return false;
      if (job->input_signed) {
        for (uint32_t c = 0; c < valid; c++) pixel[c] = (int8_t)bytes[c];
      } else {
        for (uint32_t c = 0; c < valid; c++) pixel[c] = bytes[c * step + byte];
      }
    }
  }
  return true;
}

/* Where the window of an output pixel begins. */
static inline const int16_t *array_window_at(const struct array_subtile *s, uint32_t y, uint32_t x) {
  const uint32_t step = array_output_step(s->job);
  return s->scratch->window + ((size_t)y * step * s->job->wi_full + x * step) * s->channels;
}

/* Accumulate a dense subtile: window -> patches -> matrix product. */
static inline bool array_accumulate_dense(struct array_subtile *s, uint32_t ho, uint32_t wo, uint32_t *sums) {
  const uint32_t kernel = array_kernel(s->job);
  struct array_scratch *scratch = s->scratch;
  int16_t *patches = array_grow(s->queue, &scratch->patches, &scratch->patches_capacity, (size_t)ho * wo * s->depth);
  if (patches == NULL) return false;
  const size_t run = (size_t)kernel * s->channels; /* taps of one kernel row are neighbours in the window */
  for (uint32_t p = 0; p < ho * wo; p++) {
    const int16_t *source = array_window_at(s, p / wo, p % wo);
    int16_t *patch = patches + p * s->depth;
    for (uint32_t fy = 0; fy < kernel; fy++, source += (size_t)s->job->wi_full * s->channels) {
      memcpy(patch + fy * run, source, run * sizeof *patch);
    }
    memset(patch + kernel * run, 0, (s->depth - kernel * run) * sizeof *patch);
  }
  array_matrix_product(patches, (size_t)ho * wo, scratch->weights, array_round_up(s->ko, ARRAY_ROW_ALIGNMENT), s->depth,
                       sums, ARRAY_MAX_CHANNELS);
  for (size_t p = 0; s->weight_rest != 0 && p < (size_t)ho * wo; p++) {
    const uint32_t rest = s->weight_rest * array_row_sum(patches + p * s->depth, s->depth);
    for (uint32_t k = 0; k < s->ko; k++) sums[p * ARRAY_MAX_CHANNELS + k] += rest;
  }
  return true;
}

static inline void array_accumulate_depthwise(struct array_subtile *s, uint32_t ho, uint32_t wo, uint32_t *sums) {
  for (uint32_t p = 0; p < ho * wo; p++, sums += ARRAY_MAX_CHANNELS) {
    const int16_t *window = array_window_at(s, p / wo, p % wo);
    for (uint32_t tap = 0; tap < ARRAY_TAPS; tap++) {
      const int16_t *source = window + ((size_t)(tap / 3) * s->job->wi_full + tap % 3) * s->channels;
      array_multiply_add(source, s->scratch->weights + tap * s->channels, s->ko, sums);
      if (s->weight_rest == 0) continue;
      for (uint32_t k = 0; k < s->ko; k++) sums[k] += s->weight_rest * (uint32_t)source[k];
    }
  }
}

/* Host pointer to the 32-byte beat that holds output channel `k` of a pixel. */
static inline uint8_t *array_output_beat(struct array_subtile *s, uint32_t y, uint32_t x, uint32_t k, uint32_t count) {
  const struct array_job *job = s->job;
  const uint32_t step = job->output_bytes == 4 ? k / 8 * job->at.output_d0 : 0;
  const uint32_t address =
      job->at.output + y * job->at.output_d2 + x * job->at.output_d1 + s->ko_first * job->output_bytes + step;
  return array_memory(s->queue, TVM_PULP_PORT_L1, address, count * job->output_bytes);
}

static inline bool array_stream_in(struct array_subtile *s, uint32_t y, uint32_t x, uint32_t *sums) {
  for (uint32_t k = 0; k < s->ko; k += 8) {
    const uint32_t count = s->ko - k < 8 ? s->ko - k : 8;
    const uint8_t *beat = array_output_beat(s, y, x, k, count);
    if (beat == NULL) return false;
    for (uint32_t c = 0; c < count; c++) sums[k + c] += array_read_value(beat + 4 * c, 4);
  }
  return true;
}

static inline bool array_stream_out(struct array_subtile *s, uint32_t y, uint32_t x, uint32_t *sums) {
  const struct array_job *job = s->job;
  if (job->norm_quant) array_round(&s->rounding, sums, s->ko);
  const uint32_t width = job->output_bytes == 1 ? s->ko : 8;
  for (uint32_t k = 0; k < s->ko; k += width) {
    const uint32_t count = s->ko - k < width ? s->ko - k : width;
    uint8_t *beat = array_output_beat(s, y, x, k, count);
    if (beat == NULL) return false;
    if (job->output_bytes == 1) {
      for (uint32_t c = 0; c < count; c++) beat[c] = (uint8_t)sums[k + c];
    } else {
      for (uint32_t c = 0; c < 4 * count; c++) beat[c] = (uint8_t)(sums[k + c / 4] >> (8 * (c % 4)));
    }
  }
  return true;
}

/* All pixels are read and computed before the first one is written. */
static inline bool array_execute_subtile(struct array_subtile *s, uint32_t i, uint32_t j) {
  const struct array_job *job = s->job;
  static _Thread_local uint32_t sums[ARRAY_MAX_PIXELS * ARRAY_MAX_CHANNELS];
  const uint32_t ho = array_kept(job, array_dimension_size(&job->ho, i)), step = array_output_step(job);
  const uint32_t wo = array_kept(job, array_dimension_size(&job->wo, j)), top = i * job->ho.full, left = j * job->wo.full;
  memset(sums, 0, (size_t)ho * wo * ARRAY_MAX_CHANNELS * sizeof *sums);
  for (uint32_t byte = job->value_bytes; byte-- > 0;) {
    for (size_t k = 0; byte + 1 < job->value_bytes && k < (size_t)ho * wo * ARRAY_MAX_CHANNELS; k++) sums[k] <<= 8;
    if (!array_load_window(s, i, j, byte)) return false;
    if (array_is_depthwise(job)) array_accumulate_depthwise(s, ho, wo, sums);
    else if (!array_accumulate_dense(s, ho, wo, sums)) return false;
  }
  for (uint32_t p = 0; job->stream_in && p < ho * wo; p++) {
    if (!array_stream_in(s, top + step * (p / wo), left + step * (p % wo), sums + p * ARRAY_MAX_CHANNELS)) return false;
  }
  for (uint32_t p = 0; p < ho * wo; p++) {
    if (!array_stream_out(s, top + step * (p / wo), left + step * (p % wo), sums + p * ARRAY_MAX_CHANNELS)) return false;
  }
  return true;
}

/* Scale, bias and shift of the channels of a Ko subtile. */
static inline bool array_read_parameters(struct array_subtile *s) {
  const struct array_job *job = s->job;
  struct array_rounding *how = &s->rounding;
  if (!job->norm_quant) return true;
  how->bias = job->bias;
  how->relu = job->relu;
  how->narrow = job->output_bytes == 1;
  const uint32_t size = job->scale_bytes;
  const uint8_t *scales = array_memory(s->queue, TVM_PULP_PORT_L1, job->at.scale + s->ko_first * size, s->ko * size);
  if (scales == NULL) return false;
  for (uint32_t k = 0; k < s->ko; k++) how->scales[k] = array_read_value(scales + k * size, size);
  if (job->bias) {
    const uint8_t *biases = array_memory(s->queue, TVM_PULP_PORT_L1, job->at.biases + 4 * s->ko_first, 4 * s->ko);
    if (biases == NULL) return false;
    for (uint32_t k = 0; k < s->ko; k++) how->biases[k] = array_read_value(biases + 4 * k, 4);
  }
  memset(how->shifts, (int)job->shift, sizeof how->shifts);
  if (!job->shift_vector) return true;
  const uint8_t *shifts = array_memory(s->queue, TVM_PULP_PORT_L1, job->at.shifts + s->ko_first, s->ko);
  if (shifts == NULL) return false;
  for (uint32_t k = 0; k < s->ko; k++) {
    if (shifts[k] > 31) {
      job_queue_fault(s->queue, "%s shift of channel %u is %u, use 0 to 31", s->queue->rules->name, s->ko_first + k, shifts[k]);
      return false;
    }
    how->shifts[k] = shifts[k];
  }
  return true;
}

static inline void array_free(struct array_scratch *scratch) {
  free(scratch->weights);
  free(scratch->patches);
  free(scratch->window);
}

/* False after a fault. */
static inline bool array_execute(struct job_queue *queue, struct array_scratch *scratch, const struct array_job *job,
                                 array_unpack *unpack) {
  struct array_subtile s = {.queue = queue, .scratch = scratch, .job = job, .unpack = unpack};
  s.channels = (array_is_depthwise(job) ? 1 : job->ki.count) * job->ki.full * job->ki_bytes / job->value_bytes;
  s.depth = array_round_up((size_t)array_taps(job) * s.channels, ARRAY_DEPTH_ALIGNMENT);
  for (s.major = 0; s.major < job->ko.count; s.major++) {
    s.ko_first = s.major * job->ko.full;
    s.ko = array_dimension_size(&job->ko, s.major);
    if (!array_read_parameters(&s) || !array_unpack_weights(&s)) return false;
    for (uint32_t i = 0; i < job->ho.count; i++) {
      for (uint32_t j = 0; j < job->wo.count; j++) {
        if (!array_execute_subtile(&s, i, j)) return false;
      }
    }
  }
  return true;
}

#endif /* TVM_PULP_ARRAY_EXECUTE_H */
