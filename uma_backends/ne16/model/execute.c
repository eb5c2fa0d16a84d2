/* SPDX-License-Identifier: Apache-2.0
 *
 * What a job computes, subtile by subtile in the hardware's order (Ko, Ho, Wo) so that a job which overwrites its own
 * input behaves like the hardware. Sums are modulo 2^32, so their order does not matter. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

struct subtile {
  struct ne16_engine *engine;
  const struct ne16_job *job;
  uint32_t channels;     /* input channels of a pixel of the window and of a tap of a filter */
  uint32_t ko_first, ko; /* first output channel and their number */
  uint32_t scales[NE16_OUTPUT_CHANNELS], biases[NE16_OUTPUT_CHANNELS];
  uint8_t shifts[NE16_OUTPUT_CHANNELS];
};

static void *grow(struct ne16_engine *engine, void *buffer, size_t *capacity, size_t bytes) {
  if (*capacity >= bytes) return buffer;
  free(buffer);
  buffer = malloc(bytes);
  *capacity = buffer == NULL ? 0 : bytes;
  if (buffer == NULL) job_queue_fault(&engine->queue, "no memory left to simulate a NE16 job");
  return buffer;
}

static uint8_t *memory(struct ne16_engine *engine, uint32_t address, uint32_t bytes) {
  uint8_t *bytes_at = engine->queue.system.memory(engine->queue.system.context, TVM_PULP_PORT_L1, address, bytes);
  if (bytes_at == NULL) job_queue_fault(&engine->queue, "NE16 access to 0x%08x with %u bytes left the memory", address, bytes);
  return bytes_at;
}

static uint32_t read_value(const uint8_t *bytes, uint32_t count) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < count; i++) value |= (uint32_t)bytes[i] << (8 * i);
  return value;
}

static void write_word(uint8_t *bytes, uint32_t word) {
  for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(word >> (8 * i));
}

static bool is_masked(const struct ne16_job *job, uint32_t row, uint32_t column) {
  return row < job->mask_top || row + job->mask_bottom >= 3 || column < job->mask_left || column + job->mask_right >= 3;
}

/* The weights of a group of input channels, plane by plane: bit c of a tap's bytes belongs to its channel c. */
static bool unpack_group(struct subtile *s, uint32_t channel, uint32_t group, uint32_t first, uint32_t count, int16_t *filter) {
  const struct ne16_job *job = s->job;
  const uint32_t kernel = ne16_kernel(job), taps = kernel * kernel;
  const bool linear = job->mode == NE16_LINEAR;
  const uint32_t plane_bytes = linear ? ne16_input_bytes(job) / 8 : ne16_plane_bytes(job);
  const uint32_t between = job->mode == NE16_1X1 ? plane_bytes : job->at.weights_d0, tap_bytes = plane_bytes / taps;
  const uint8_t *planes[8];
  for (uint32_t p = 0; p < job->weight_bits; p++) {
    planes[p] = memory(s->engine, ne16_weights_at(job, channel, group) + p * between, plane_bytes);
    if (planes[p] == NULL) return false;
  }
  for (uint32_t tap = 0; tap < taps; tap++) {
    int16_t *row = filter + tap * s->channels + first;
    const bool masked = kernel == 3 && is_masked(job, tap / 3, tap % 3);
    for (uint32_t c = 0; c < count; c++) {
      uint32_t value = 0;
      for (uint32_t p = 0; p < job->weight_bits; p++) value |= (planes[p][tap * tap_bytes + c / 8] >> (c % 8) & 1u) << p;
      row[c] = masked ? 0 : (int16_t)((int32_t)value + job->weight_offset);
    }
  }
  return true;
}

/* Filters of a Ko subtile as [output channel][tap][input channel]; depthwise: [tap][channel]. */
static bool unpack_weights(struct subtile *s) {
  const struct ne16_job *job = s->job;
  struct ne16_scratch *scratch = &s->engine->scratch;
  const bool depthwise = ne16_is_depthwise(job);
  const uint32_t rows = depthwise ? 1 : s->ko, taps = ne16_kernel(job) * ne16_kernel(job);
  const size_t depth = (size_t)taps * s->channels;
  const uint32_t width = job->mode == NE16_LINEAR ? s->channels : (uint32_t)NE16_INPUT_BYTES >> job->wide_input;
  scratch->weights = grow(s->engine, scratch->weights, &scratch->weights_capacity, rows * depth * sizeof(int16_t));
  if (scratch->weights == NULL) return false;
  for (uint32_t row = 0; row < rows; row++) {
    for (uint32_t first = 0; first < s->channels; first += width) {
      const uint32_t count = s->channels - first < width ? s->channels - first : width;
      if (!unpack_group(s, s->ko_first + row, first / width, first, count, scratch->weights + row * depth)) return false;
    }
  }
  return true;
}

/* The padded input window of one spatial subtile as [row][column][channel]. */
static bool load_window(struct subtile *s, uint32_t i, uint32_t j) {
  const struct ne16_job *job = s->job;
  struct ne16_scratch *scratch = &s->engine->scratch;
  const bool last_row = i + 1 == job->ho.count, last_column = j + 1 == job->wo.count;
  const uint32_t hi = last_row ? job->hi_last : job->hi_full, wi = last_column ? job->wi_last : job->wi_full;
  /* Top and left padding exist in the first subtile. Bottom and right rows that are not loaded stay zero; where the
   * remainder does load them they take the padding value. */
  const uint32_t top = i == 0 ? job->pad_top : 0, left = j == 0 ? job->pad_left : 0;
  const uint32_t bottom = job->hi_full - (last_row ? job->pad_bottom : 0);
  const uint32_t right = job->wi_full - (last_column ? job->pad_right : 0);
  const uint32_t value_bytes = job->wide_input ? 2 : 1;
  const size_t count = (size_t)job->hi_full * job->wi_full * s->channels;
  scratch->window = grow(s->engine, scratch->window, &scratch->window_capacity, count * sizeof(int32_t));
  if (scratch->window == NULL) return false;
  memset(scratch->window, 0, count * sizeof(int32_t));
  for (uint32_t y = 0; y < hi; y++) {
    for (uint32_t x = 0; x < wi; x++) {
      int32_t *pixel = scratch->window + ((size_t)y * job->wi_full + x) * s->channels;
      if (y < top || y >= bottom || x < left || x >= right) {
        for (uint32_t c = 0; c < s->channels; c++) pixel[c] = (int32_t)job->pad_value;
        continue;
      }
      const uint32_t address = job->at.input + (i * NE16_PATCH + y) * job->at.input_d1 + (j * NE16_PATCH + x) * job->at.input_d0 +
                               (ne16_is_depthwise(job) ? s->ko_first : 0);
      const uint8_t *bytes = memory(s->engine, address, s->channels * value_bytes);
      if (bytes == NULL) return false;
      for (uint32_t c = 0; c < s->channels; c++) pixel[c] = (int32_t)read_value(bytes + c * value_bytes, value_bytes);
    }
  }
  return true;
}

/* Accumulators of one output pixel. */
static void accumulate(const struct subtile *s, uint32_t y, uint32_t x, uint32_t *sums) {
  const struct ne16_job *job = s->job;
  const struct ne16_scratch *scratch = &s->engine->scratch;
  const uint32_t kernel = ne16_kernel(job);
  for (uint32_t fy = 0; fy < kernel; fy++) {
    /* Taps of one kernel row are neighbours in the window and in the filter. */
    const int32_t *source = scratch->window + ((size_t)(y + fy) * job->wi_full + x) * s->channels;
    const size_t run = (size_t)kernel * s->channels;
    const int16_t *weights = scratch->weights + fy * run;
    if (ne16_is_depthwise(job)) {
      for (size_t e = 0; e < run; e++) sums[e % s->channels] += (uint32_t)(source[e] * weights[e]);
      continue;
    }
    for (uint32_t k = 0; k < s->ko; k++, weights += kernel * run) {
      uint32_t sum = 0;
      for (size_t e = 0; e < run; e++) sum += (uint32_t)(source[e] * weights[e]);
      sums[k] += sum;
    }
  }
}

/* Host pointer to the 32-byte beat that holds output channel `k` of a pixel. */
static uint8_t *output_beat(struct subtile *s, uint32_t y, uint32_t x, uint32_t k, uint32_t count) {
  const struct ne16_job *job = s->job;
  const uint32_t step = job->output_bytes == 4 ? k / 8 * job->at.output_d0 : 0;
  return memory(s->engine, job->at.output + y * job->at.output_d2 + x * job->at.output_d1 + s->ko_first * job->output_bytes + step,
                count * job->output_bytes);
}

static bool stream_in(struct subtile *s, uint32_t y, uint32_t x, uint32_t *sums) {
  for (uint32_t k = 0; k < s->ko; k += 8) {
    const uint32_t count = s->ko - k < 8 ? s->ko - k : 8;
    const uint8_t *beat = output_beat(s, y, x, k, count);
    if (beat == NULL) return false;
    for (uint32_t c = 0; c < count; c++) sums[k + c] = read_value(beat + 4 * c, 4);
  }
  return true;
}

static int64_t clip(int64_t value, int64_t low, int64_t high) { return value < low ? low : value > high ? high : value; }

/* With a bias the product is cut to 32 bits before the sum, which is modulo 2^32; without it keeps 48 bits. Shifts of
 * negative numbers round down. A 32-bit output with ReLU passes the low 32 bits of what is not negative. */
static uint32_t requantize(const struct subtile *s, uint32_t sum, uint32_t k) {
  const struct ne16_job *job = s->job;
  const uint64_t product = (uint64_t)(int64_t)(int32_t)sum * s->scales[k], sign = UINT64_C(1) << 47;
  int64_t value = (int64_t)(((product & (2 * sign - 1)) ^ sign) - sign);
  if (job->bias) value = (int32_t)((uint32_t)product + s->biases[k]);
  value >>= s->shifts[k];
  if (job->output_bytes == 1) return (uint32_t)(job->relu ? clip(value, 0, 255) : clip(value, -128, 127));
  return job->relu ? (uint32_t)(value < 0 ? 0 : value) : (uint32_t)clip(value, INT32_MIN, INT32_MAX);
}

static bool stream_out(struct subtile *s, uint32_t y, uint32_t x, const uint32_t *sums) {
  const struct ne16_job *job = s->job;
  const uint32_t width = job->output_bytes == 1 ? s->ko : 8;
  for (uint32_t k = 0; k < s->ko; k += width) {
    const uint32_t count = s->ko - k < width ? s->ko - k : width;
    uint8_t *beat = output_beat(s, y, x, k, count);
    if (beat == NULL) return false;
    for (uint32_t c = 0; c < count; c++) {
      const uint32_t value = job->norm_quant ? requantize(s, sums[k + c], k + c) : sums[k + c];
      if (job->output_bytes == 1) beat[c] = (uint8_t)value;
      else write_word(beat + 4 * c, value);
    }
  }
  return true;
}

/* All pixels are read and computed before the first one is written. */
static bool execute_subtile(struct subtile *s, uint32_t i, uint32_t j) {
  const struct ne16_job *job = s->job;
  uint32_t sums[NE16_PATCH][NE16_PATCH][NE16_OUTPUT_CHANNELS] = {0};
  const uint32_t ho = array_dimension_size(&job->ho, i), wo = array_dimension_size(&job->wo, j), step = ne16_output_step(job);
  if (!load_window(s, i, j)) return false;
  for (uint32_t y = 0; y < ho; y += step) {
    for (uint32_t x = 0; x < wo; x += step) {
      if (job->stream_in && !stream_in(s, i * NE16_PATCH + y, j * NE16_PATCH + x, sums[y][x])) return false;
      accumulate(s, y, x, sums[y][x]);
    }
  }
  for (uint32_t y = 0; y < ho; y += step) {
    for (uint32_t x = 0; x < wo; x += step) {
      if (!stream_out(s, i * NE16_PATCH + y, j * NE16_PATCH + x, sums[y][x])) return false;
    }
  }
  return true;
}

/* Scale, bias and shift of the channels of a Ko subtile. */
static bool read_parameters(struct subtile *s) {
  const struct ne16_job *job = s->job;
  if (!job->norm_quant) return true;
  const uint8_t *scales = memory(s->engine, job->at.scale + s->ko_first * job->scale_bytes, s->ko * job->scale_bytes);
  if (scales == NULL) return false;
  for (uint32_t k = 0; k < s->ko; k++) s->scales[k] = read_value(scales + k * job->scale_bytes, job->scale_bytes);
  if (job->bias) {
    const uint8_t *biases = memory(s->engine, job->at.biases + 4 * s->ko_first, 4 * s->ko);
    if (biases == NULL) return false;
    for (uint32_t k = 0; k < s->ko; k++) s->biases[k] = read_value(biases + 4 * k, 4);
  }
  memset(s->shifts, (int)job->shift, sizeof s->shifts);
  if (!job->shift_vector) return true;
  const uint8_t *shifts = memory(s->engine, job->at.shifts + s->ko_first, s->ko);
  if (shifts == NULL) return false;
  for (uint32_t k = 0; k < s->ko; k++) {
    if (shifts[k] > 31) {
      job_queue_fault(&s->engine->queue, "NE16 shift of channel %u is %u, use 0 to 31", s->ko_first + k, shifts[k]);
      return false;
    }
    s->shifts[k] = shifts[k];
  }
  return true;
}

bool ne16_execute(struct ne16_engine *engine, const struct ne16_job *job) {
  struct subtile s = {.engine = engine, .job = job};
  for (uint32_t major = 0; major < job->ko.count; major++) {
    s.ko_first = major * job->ko.full;
    s.ko = array_dimension_size(&job->ko, major);
    s.channels = ne16_is_depthwise(job) ? s.ko : ne16_input_channels(job);
    if (!read_parameters(&s) || !unpack_weights(&s)) return false;
    for (uint32_t i = 0; i < job->ho.count; i++) {
      for (uint32_t j = 0; j < job->wo.count; j++) {
        if (!execute_subtile(&s, i, j)) return false;
      }
    }
  }
  return true;
}
