/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes a job touches: declared to the system when the job starts, counted when it ends.
 *
 * Ranges are exact (a slice of channels claims only that slice) and merged where they touch. The hardware also fetches
 * bytes it then masks; those cannot change a result and are not claimed. */
#include "engine.h"

struct claimer {
  struct ne16_engine *engine;
  bool is_write;
  const char *operand;
  uint32_t start, bytes;
  bool valid;
};

static void flush(struct claimer *claimer) {
  if (claimer->bytes == 0 || !claimer->valid) return;
  claimer->valid = job_queue_claim(&claimer->engine->queue, claimer->operand, TVM_PULP_PORT_L1, claimer->start,
                                   claimer->bytes, claimer->is_write);
  claimer->bytes = 0;
}

static void add(struct claimer *claimer, uint32_t address, uint32_t bytes) {
  const uint64_t end = (uint64_t)claimer->start + claimer->bytes;
  if (claimer->bytes != 0 && address >= claimer->start && address <= end) {
    const uint64_t grown = (uint64_t)address + bytes;
    if (grown > end) claimer->bytes = (uint32_t)(grown - claimer->start);
    return;
  }
  flush(claimer);
  claimer->start = address;
  claimer->bytes = bytes;
}

/* Rows (or columns) read from memory: all loaded ones that padding does not overwrite. */
static uint32_t loaded_end(const struct ne16_dimension *output, uint32_t full, uint32_t last, uint32_t padding) {
  uint32_t end = (output->count - 1) * output->full + (last < full - padding ? last : full - padding);
  /* The last but one subtile loads its full window, even where the last one does not. */
  if (output->count > 1) {
    const uint32_t before = (output->count - 2) * output->full + full;
    if (before > end) end = before;
  }
  return end;
}

static void claim_input(struct claimer *claimer, const struct ne16_job *job) {
  const uint32_t rows = loaded_end(&job->ho, job->hi_full, job->hi_last, job->pad_bottom);
  const uint32_t columns = loaded_end(&job->wo, job->wi_full, job->wi_last, job->pad_right);
  for (uint32_t y = job->pad_top; y < rows && claimer->valid; y++) {
    for (uint32_t x = job->pad_left; x < columns && claimer->valid; x++) {
      add(claimer, job->input + y * job->input_d1 + x * job->input_d0, ne16_input_bytes(job));
    }
  }
}

static void claim_output(struct claimer *claimer, const struct ne16_job *job) {
  const uint32_t rows = ne16_dimension_total(&job->ho), columns = ne16_dimension_total(&job->wo);
  const uint32_t bytes = ne16_dimension_total(&job->ko) * job->output_bytes, step = ne16_output_step(job);
  for (uint32_t y = 0; y < rows && claimer->valid; y += step) {
    for (uint32_t x = 0; x < columns && claimer->valid; x += step) {
      add(claimer, job->output + y * job->output_d2 + x * job->output_d1, bytes);
    }
  }
}

/* As in hardware, the step between Ko and Ki subtiles follows from the counts; the stride registers only act within a
 * subtile. Packed tensors make both agree. */
uint32_t ne16_weights_at(const struct ne16_job *job, uint32_t channel, uint32_t group) {
  const uint32_t bytes = job->weight_bits * ne16_plane_bytes(job);
  if (ne16_is_depthwise(job)) return job->weights + channel / job->ko.full * bytes;
  const uint32_t major = channel / job->ko.full, minor = channel % job->ko.full;
  if (job->mode == NE16_LINEAR) return job->weights + major * job->weights_d2 + minor * job->weights_d1;
  return job->weights + major * job->ko.full * job->ki.count * bytes + minor * job->weights_d1 + group * bytes;
}

static void claim_weights(struct claimer *claimer, const struct ne16_job *job) {
  const uint32_t channels = ne16_dimension_total(&job->ko), step = ne16_is_depthwise(job) ? job->ko.full : 1;
  const bool linear = job->mode == NE16_LINEAR;
  const uint32_t groups = linear || ne16_is_depthwise(job) ? 1 : job->ki.count;
  const uint32_t bytes = linear ? ne16_input_bytes(job) / 8 : ne16_plane_bytes(job);
  const uint32_t between = job->mode == NE16_1X1 ? bytes : job->weights_d0;
  for (uint32_t channel = 0; channel < channels && claimer->valid; channel += step) {
    for (uint32_t group = 0; group < groups && claimer->valid; group++) {
      const uint32_t start = ne16_weights_at(job, channel, group);
      for (uint32_t plane = 0; plane < job->weight_bits; plane++) add(claimer, start + plane * between, bytes);
    }
  }
}

bool ne16_claim(struct ne16_engine *engine, const struct ne16_job *job) {
  const uint32_t channels = ne16_dimension_total(&job->ko);
  struct claimer claimer = {.engine = engine, .operand = "input", .valid = true};
  claim_input(&claimer, job);
  flush(&claimer);
  if (job->norm_quant) {
    claimer.operand = "scale";
    add(&claimer, job->scale, channels * job->scale_bytes);
    flush(&claimer);
    claimer.operand = "bias";
    if (job->bias) add(&claimer, job->biases, channels * 4);
    flush(&claimer);
    claimer.operand = "shift";
    if (job->shift_vector) add(&claimer, job->shifts, channels);
    flush(&claimer);
  }
  claimer.operand = "output";
  claimer.is_write = true;
  claim_output(&claimer, job);
  flush(&claimer);
  claimer.operand = "weight";
  claimer.is_write = false;
  claim_weights(&claimer, job);
  flush(&claimer);
  return claimer.valid;
}

/* Activations are loaded once per Ko subtile, weights and parameters once per spatial subtile. */
void ne16_count_traffic(struct ne16_engine *engine, const struct ne16_job *job) {
  const bool whole = engine->options.whole_windows, depthwise = ne16_is_depthwise(job);
  const uint64_t rows = (uint64_t)(job->ho.count - 1) * job->hi_full + (whole ? job->hi_full : job->hi_last);
  const uint64_t columns = (uint64_t)(job->wo.count - 1) * job->wi_full + (whole ? job->wi_full : job->wi_last);
  const uint64_t subtiles = (uint64_t)job->ho.count * job->wo.count, channels = ne16_dimension_total(&job->ko);
  const uint32_t step = ne16_output_step(job);
  const uint64_t outputs = (uint64_t)((ne16_dimension_total(&job->ho) + step - 1) / step) *
                           ((ne16_dimension_total(&job->wo) + step - 1) / step) * channels;
  uint64_t bytes = rows * columns * ne16_input_bytes(job) * (depthwise ? 1 : job->ko.count);
  bytes += outputs * job->output_bytes * (job->stream_in ? 2 : 1);
  if (job->norm_quant) {
    bytes += subtiles * channels * (job->scale_bytes + (job->bias ? 4u : 0u) + (job->shift_vector ? 1u : 0u));
  }
  const uint64_t weights = job->mode == NE16_LINEAR ? channels * job->weight_bits * ne16_input_bytes(job) / 8
                                                    : (depthwise ? channels : channels * job->ki.count) *
                                                          job->weight_bits * ne16_plane_bytes(job);
  engine->queue.statistics.l1_bytes += bytes + subtiles * weights;
}
