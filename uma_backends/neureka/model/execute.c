/* SPDX-License-Identifier: Apache-2.0
 *
 * What a job computes, subtile by subtile in the hardware's order (Ko, Ho, Wo) so that a job which overwrites its own
 * input behaves like the hardware. The Ki loop is folded into one matrix product: sums are modulo 2^32, so their order
 * does not matter. */
#include <stdlib.h>
#include <string.h>

#include "arithmetic.h"
#include "engine.h"

_Static_assert((int)NEUREKA_MAX_CHANNELS <= (int)NEUREKA_REQUANTIZED_CHANNELS, "one Ko subtile must fit");

struct subtile {
  struct neureka_engine *engine;
  const struct neureka_job *job;
  uint32_t channels;       /* input channels held per pixel of the window */
  uint32_t window_columns; /* pixels per row of the window */
  size_t depth;            /* elements of a patch and of an unpacked filter */
  uint32_t ko_first, ko;   /* first output channel and their number */
  uint32_t weight_rest;    /* weight offset that the unpacked weights do not contain */
  struct neureka_requantization requantization;
};

static size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

static int16_t *grow(struct neureka_engine *engine, int16_t **buffer, size_t *capacity, size_t count) {
  if (*capacity < count) {
    free(*buffer);
    *buffer = aligned_alloc(64, round_up(count * sizeof **buffer, 64));
    *capacity = *buffer == NULL ? 0 : count;
    if (*buffer == NULL) job_queue_fault(&engine->queue, "no memory left to simulate a NEUREKA job");
  }
  return *buffer;
}

static uint8_t *memory(struct neureka_engine *engine, enum tvm_pulp_port port, uint32_t address, uint32_t bytes) {
  uint8_t *bytes_at = engine->queue.system.memory(engine->queue.system.context, port, address, bytes);
  if (bytes_at == NULL) job_queue_fault(&engine->queue, "NEUREKA access to 0x%08x with %u bytes left the memory", address, bytes);
  return bytes_at;
}

static uint32_t read_word(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void write_word(uint8_t *bytes, uint32_t word) {
  for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(word >> (8 * i));
}

/* Beats of one output channel (or depthwise subtile) and Ki subtile, unpacked to one byte per weight.
 *
 * As in hardware, the step between Ko and Ki subtiles follows from the counts; the stride registers only act within a
 * subtile. Packed tensors make both agree. */
static bool read_weights(struct subtile *s, uint32_t channel, uint32_t ki, uint8_t *weights) {
  const struct neureka_job *job = s->job;
  const struct neureka_geometry *g = &s->engine->options.geometry;
  const enum tvm_pulp_port port = job->weight_memory ? TVM_PULP_PORT_WEIGHT : TVM_PULP_PORT_L1;
  const bool depthwise = job->mode == NEUREKA_DEPTHWISE, pointwise = job->mode == NEUREKA_1X1;
  const uint32_t planes = pointwise ? 1 : job->weight_bits, group = planes * g->weight_beat_bytes;
  const uint32_t base =
      job->at.weights + (depthwise ? ki * group
                                : s->ko_first * job->ki.count * group + ki * group + channel * job->at.weights_d1);
  const uint8_t *beats[8];
  for (uint32_t plane = 0; plane < planes; plane++) {
    beats[plane] = memory(s->engine, port, base + plane * job->at.weights_d0, g->weight_beat_bytes);
    if (beats[plane] == NULL) return false;
  }
  if (pointwise) {
    neureka_unpack_pointwise(beats[0], job->weight_bits, g->channels_1x1, weights);
  } else {
    neureka_unpack_planes(beats, job->weight_bits, NEUREKA_TAPS * g->channels_3x3, weights);
  }
  return true;
}

/* Filters of a Ko subtile as [output channel][tap][input channel]; depthwise: [tap][channel]. */
static bool unpack_weights(struct subtile *s) {
  const struct neureka_job *job = s->job;
  const struct neureka_geometry *g = &s->engine->options.geometry;
  const bool depthwise = job->mode == NEUREKA_DEPTHWISE, pointwise = job->mode == NEUREKA_1X1;
  const uint32_t taps = pointwise ? 1 : NEUREKA_TAPS, width = pointwise ? g->channels_1x1 : g->channels_3x3;
  const size_t rows = depthwise ? 1 : round_up(s->ko, NEUREKA_ROW_ALIGNMENT);
  int16_t *filters = grow(s->engine, &s->engine->scratch.weights, &s->engine->scratch.weights_capacity, rows * s->depth);
  if (filters == NULL) return false;
  memset(filters, 0, rows * s->depth * sizeof *filters);

  /* Offsets of every sensible kind keep the weights within 9 bits; any other is added after the product. */
  const int32_t offset = (int32_t)job->weight_offset;
  const bool fold = offset >= -256 && offset <= 0;
  s->weight_rest = fold ? 0 : job->weight_offset;
  const int16_t added = (int16_t)(fold ? offset : 0);

  uint8_t unpacked[NEUREKA_TAPS * NEUREKA_MAX_CHANNELS];
  const uint32_t ki_first = depthwise ? s->ko_first / g->channels_3x3 : 0;
  const uint32_t ki_count = depthwise ? 1 : job->ki.count;
  for (uint32_t channel = 0; channel < (depthwise ? 1 : s->ko); channel++) {
    for (uint32_t ki = 0; ki < ki_count; ki++) {
      if (!read_weights(s, channel, ki_first + ki, unpacked)) return false;
      for (uint32_t tap = 0; tap < taps; tap++) {
        int16_t *row = filters + channel * s->depth + tap * s->channels + ki * width;
        for (uint32_t c = 0; c < width; c++) row[c] = (int16_t)(unpacked[tap * width + c] + added);
      }
    }
  }
  return true;
}

/* The padded input window of one spatial subtile as [row][column][channel]. */
static bool load_window(struct subtile *s, uint32_t i, uint32_t j) {
  const struct neureka_job *job = s->job;
  const bool depthwise = job->mode == NEUREKA_DEPTHWISE, last_row = i + 1 == job->ho.count, last_column = j + 1 == job->wo.count;
  const uint32_t hi = last_row ? job->hi_last : job->hi_full, wi = last_column ? job->wi_last : job->wi_full;
  /* Top and left padding exist in the first subtile. Bottom and right rows are normally not loaded at all and stay
   * zero; only where the remainder does load them they take the padding value. */
  const uint32_t top = i == 0 ? job->pad_top : 0, left = j == 0 ? job->pad_left : 0;
  const uint32_t bottom = job->hi_full - (last_row ? job->pad_bottom : 0);
  const uint32_t right = job->wi_full - (last_column ? job->pad_right : 0);
  const uint32_t valid = depthwise ? s->ko : array_dimension_total(&job->ki);
  const int16_t padding = job->input_signed ? (int16_t)(int8_t)job->pad_value : (int16_t)job->pad_value;

  const size_t count = (size_t)job->hi_full * s->window_columns * s->channels;
  int16_t *window = grow(s->engine, &s->engine->scratch.window, &s->engine->scratch.window_capacity, count);
  if (window == NULL) return false;
  memset(window, 0, count * sizeof *window);
  for (uint32_t y = 0; y < hi; y++) {
    for (uint32_t x = 0; x < wi; x++) {
      int16_t *pixel = window + ((size_t)y * s->window_columns + x) * s->channels;
      if (y < top || y >= bottom || x < left || x >= right) {
        for (uint32_t c = 0; c < valid; c++) pixel[c] = padding;
        continue;
      }
      const uint32_t address = job->at.input + (i * job->ho.full + y) * job->at.input_d1 +
                               (j * job->wo.full + x) * job->at.input_d0 + (depthwise ? s->ko_first : 0);
      const uint8_t *bytes = memory(s->engine, TVM_PULP_PORT_L1, address, valid);
      if (bytes == NULL) return false;
      if (job->input_signed) {
        for (uint32_t c = 0; c < valid; c++) pixel[c] = (int8_t)bytes[c];
      } else {
        for (uint32_t c = 0; c < valid; c++) pixel[c] = bytes[c];
      }
    }
  }
  return true;
}

/* Accumulate a dense subtile: window -> patches -> matrix product. */
static bool accumulate_dense(struct subtile *s, uint32_t ho, uint32_t wo, uint32_t *sums, size_t stride) {
  const uint32_t kernel = s->job->mode == NEUREKA_1X1 ? 1 : 3;
  struct neureka_scratch *scratch = &s->engine->scratch;
  int16_t *patches = grow(s->engine, &scratch->patches, &scratch->patches_capacity, (size_t)ho * wo * s->depth);
  if (patches == NULL) return false;
  const size_t run = (size_t)kernel * s->channels; /* taps of one kernel row are neighbours in the window */
  for (uint32_t y = 0; y < ho; y++) {
    for (uint32_t x = 0; x < wo; x++) {
      int16_t *patch = patches + ((size_t)y * wo + x) * s->depth;
      for (uint32_t fy = 0; fy < kernel; fy++) {
        const int16_t *source = scratch->window + ((size_t)(y + fy) * s->window_columns + x) * s->channels;
        memcpy(patch + fy * run, source, run * sizeof *patch);
      }
      memset(patch + kernel * run, 0, (s->depth - kernel * run) * sizeof *patch);
    }
  }
  neureka_matrix_product(patches, (size_t)ho * wo, scratch->weights, round_up(s->ko, NEUREKA_ROW_ALIGNMENT), s->depth,
                         sums, stride);
  if (s->weight_rest != 0) {
    for (size_t p = 0; p < (size_t)ho * wo; p++) {
      const uint32_t rest = s->weight_rest * neureka_row_sum(patches + p * s->depth, s->depth);
      for (uint32_t k = 0; k < s->ko; k++) sums[p * stride + k] += rest;
    }
  }
  return true;
}

static void accumulate_depthwise(struct subtile *s, uint32_t ho, uint32_t wo, uint32_t *sums, size_t stride) {
  const struct neureka_scratch *scratch = &s->engine->scratch;
  for (uint32_t y = 0; y < ho; y++) {
    for (uint32_t x = 0; x < wo; x++) {
      uint32_t *pixel = sums + ((size_t)y * wo + x) * stride;
      for (uint32_t tap = 0; tap < NEUREKA_TAPS; tap++) {
        const int16_t *source = scratch->window + ((size_t)(y + tap / 3) * s->window_columns + x + tap % 3) * s->channels;
        neureka_multiply_add(source, scratch->weights + tap * s->channels, s->ko, pixel);
        if (s->weight_rest == 0) continue;
        for (uint32_t k = 0; k < s->ko; k++) pixel[k] += s->weight_rest * (uint32_t)source[k];
      }
    }
  }
}

/* Host pointer to the 32-byte beat that holds output channel `k` of a pixel. */
static uint8_t *output_beat(struct subtile *s, uint32_t y, uint32_t x, uint32_t k, uint32_t count) {
  const struct neureka_job *job = s->job;
  const uint32_t step = job->output_bytes == 4 ? k / 8 * job->at.output_d0 : 0;
  const uint32_t address =
      job->at.output + y * job->at.output_d2 + x * job->at.output_d1 + s->ko_first * job->output_bytes + step;
  return memory(s->engine, TVM_PULP_PORT_L1, address, count * job->output_bytes);
}

static bool stream_in(struct subtile *s, uint32_t y, uint32_t x, uint32_t *sums) {
  for (uint32_t k = 0; k < s->ko; k += 8) {
    const uint32_t count = s->ko - k < 8 ? s->ko - k : 8;
    const uint8_t *beat = output_beat(s, y, x, k, count);
    if (beat == NULL) return false;
    for (uint32_t c = 0; c < count; c++) sums[k + c] = read_word(beat + 4 * c);
  }
  return true;
}

static bool stream_out(struct subtile *s, uint32_t y, uint32_t x, uint32_t *sums) {
  const struct neureka_job *job = s->job;
  if (job->norm_quant) neureka_requantize(&s->requantization, sums, s->ko);
  const uint32_t width = job->output_bytes == 1 ? s->ko : 8;
  for (uint32_t k = 0; k < s->ko; k += width) {
    const uint32_t count = s->ko - k < width ? s->ko - k : width;
    uint8_t *beat = output_beat(s, y, x, k, count);
    if (beat == NULL) return false;
    if (job->output_bytes == 1) {
      for (uint32_t c = 0; c < count; c++) beat[c] = (uint8_t)sums[k + c];
    } else {
      for (uint32_t c = 0; c < count; c++) write_word(beat + 4 * c, sums[k + c]);
    }
  }
  return true;
}

static bool execute_subtile(struct subtile *s, uint32_t i, uint32_t j) {
  const struct neureka_job *job = s->job;
  enum { STRIDE = NEUREKA_MAX_CHANNELS };
  static _Thread_local uint32_t sums[NEUREKA_MAX_PE_ROWS * NEUREKA_MAX_PE_COLUMNS * STRIDE];
  const uint32_t ho = array_dimension_size(&job->ho, i), wo = array_dimension_size(&job->wo, j);
  memset(sums, 0, (size_t)ho * wo * STRIDE * sizeof *sums);
  if (!load_window(s, i, j)) return false;
  for (uint32_t p = 0; job->stream_in && p < ho * wo; p++) {
    if (!stream_in(s, i * job->ho.full + p / wo, j * job->wo.full + p % wo, sums + p * STRIDE)) return false;
  }
  if (job->mode == NEUREKA_DEPTHWISE) {
    accumulate_depthwise(s, ho, wo, sums, STRIDE);
  } else if (!accumulate_dense(s, ho, wo, sums, STRIDE)) {
    return false;
  }
  for (uint32_t p = 0; p < ho * wo; p++) {
    if (!stream_out(s, i * job->ho.full + p / wo, j * job->wo.full + p % wo, sums + p * STRIDE)) return false;
  }
  return true;
}

/* Scale, bias and shift of the channels of a Ko subtile. */
static bool read_parameters(struct subtile *s) {
  const struct neureka_job *job = s->job;
  struct neureka_requantization *how = &s->requantization;
  if (!job->norm_quant) return true;
  how->bias = job->bias;
  how->relu = job->relu;
  how->narrow = job->output_bytes == 1;
  const uint8_t *scales = memory(s->engine, TVM_PULP_PORT_L1, job->at.scale + s->ko_first * job->scale_bytes,
                                 s->ko * job->scale_bytes);
  if (scales == NULL) return false;
  for (uint32_t k = 0; k < s->ko; k++) how->scales[k] = job->scale_bytes == 1 ? scales[k] : read_word(scales + 4 * k);
  if (job->bias) {
    const uint8_t *biases = memory(s->engine, TVM_PULP_PORT_L1, job->at.biases + 4 * s->ko_first, 4 * s->ko);
    if (biases == NULL) return false;
    for (uint32_t k = 0; k < s->ko; k++) how->biases[k] = read_word(biases + 4 * k);
  }
  memset(how->shifts, (int)job->shift, sizeof how->shifts);
  if (job->shift_vector) {
    const uint8_t *shifts = memory(s->engine, TVM_PULP_PORT_L1, job->at.shifts + s->ko_first, s->ko);
    if (shifts == NULL) return false;
    for (uint32_t k = 0; k < s->ko; k++) {
      if (shifts[k] > 31) {
        job_queue_fault(&s->engine->queue, "NEUREKA shift of channel %u is %u, use 0 to 31", s->ko_first + k, shifts[k]);
        return false;
      }
      how->shifts[k] = shifts[k];
    }
  }
  return true;
}

bool neureka_execute(struct neureka_engine *engine, const struct neureka_job *job) {
  const bool depthwise = job->mode == NEUREKA_DEPTHWISE;
  struct subtile s = {.engine = engine, .job = job, .window_columns = job->wi_full};
  s.channels = (depthwise ? 1 : job->ki.count) * job->ki.full;
  s.depth = round_up((size_t)(job->mode == NEUREKA_1X1 ? 1 : NEUREKA_TAPS) * s.channels, NEUREKA_DEPTH_ALIGNMENT);
  for (uint32_t major = 0; major < job->ko.count; major++) {
    s.ko_first = major * job->ko.full;
    s.ko = array_dimension_size(&job->ko, major);
    if (!read_parameters(&s) || !unpack_weights(&s)) return false;
    for (uint32_t i = 0; i < job->ho.count; i++) {
      for (uint32_t j = 0; j < job->wo.count; j++) {
        if (!execute_subtile(&s, i, j)) return false;
      }
    }
  }
  return true;
}
