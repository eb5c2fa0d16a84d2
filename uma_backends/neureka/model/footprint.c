/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes a job touches: declared to the system when the job starts, counted when it ends.
 *
 * Ranges are exact (a slice of channels claims only that slice) and merged where they touch. The hardware also fetches
 * bytes it then masks, up to a beat past an operand and, in the RTL, pixels of the window that do not exist; those cannot
 * change a result and are not claimed. Masked pixels do take banks and energy, so they are counted. */
#include "engine.h"

struct claimer {
  struct neureka_engine *engine;
  enum tvm_pulp_port port;
  bool is_write;
  const char *operand;
  uint32_t start, bytes;
  bool valid;
};

static void flush(struct claimer *claimer) {
  if (claimer->bytes == 0 || !claimer->valid) return;
  claimer->valid = job_queue_claim(&claimer->engine->queue, claimer->operand, claimer->port, claimer->start,
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
static uint32_t loaded_end(const struct neureka_dimension *output, uint32_t full, uint32_t last, uint32_t padding) {
  uint32_t end = (output->count - 1) * output->full + (last < full - padding ? last : full - padding);
  /* The last but one subtile loads its full window, even where the last one does not. */
  if (output->count > 1) {
    const uint32_t before = (output->count - 2) * output->full + full;
    if (before > end) end = before;
  }
  return end;
}

static void claim_input(struct claimer *claimer, const struct neureka_job *job) {
  const uint32_t rows = loaded_end(&job->ho, job->hi_full, job->hi_last, job->pad_bottom);
  const uint32_t columns = loaded_end(&job->wo, job->wi_full, job->wi_last, job->pad_right);
  const uint32_t channels = neureka_dimension_total(&job->ki);
  for (uint32_t y = job->pad_top; y < rows && claimer->valid; y++) {
    for (uint32_t x = job->pad_left; x < columns && claimer->valid; x++) {
      add(claimer, job->input + y * job->input_d1 + x * job->input_d0, channels);
    }
  }
}

static void claim_output(struct claimer *claimer, const struct neureka_job *job) {
  const uint32_t rows = neureka_dimension_total(&job->ho), columns = neureka_dimension_total(&job->wo);
  const uint32_t bytes = neureka_dimension_total(&job->ko) * job->output_bytes;
  for (uint32_t y = 0; y < rows && claimer->valid; y++) {
    for (uint32_t x = 0; x < columns && claimer->valid; x++) {
      add(claimer, job->output + y * job->output_d2 + x * job->output_d1, bytes);
    }
  }
}

static void claim_weights(struct claimer *claimer, const struct neureka_geometry *g, const struct neureka_job *job) {
  const uint32_t planes = job->mode == NEUREKA_1X1 ? 1 : job->weight_bits, beat = g->weight_beat_bytes;
  const bool depthwise = job->mode == NEUREKA_DEPTHWISE;
  for (uint32_t major = 0; major < job->ko.count && claimer->valid; major++) {
    const uint32_t base = job->weights + (depthwise ? major : major * g->output_channels * job->ki.count) * planes * beat;
    const uint32_t channels = depthwise ? 1 : neureka_dimension_size(&job->ko, major);
    for (uint32_t channel = 0; channel < channels && claimer->valid; channel++) {
      for (uint32_t ki = 0; ki < (depthwise ? 1 : job->ki.count) && claimer->valid; ki++) {
        for (uint32_t plane = 0; plane < planes; plane++) {
          add(claimer, base + channel * job->weights_d1 + ki * planes * beat + plane * job->weights_d0, beat);
        }
      }
    }
  }
}

bool neureka_claim(struct neureka_engine *engine, const struct neureka_job *job) {
  const uint32_t channels = neureka_dimension_total(&job->ko);
  struct claimer claimer = {.engine = engine, .port = TVM_PULP_PORT_L1, .valid = true};
  claimer.operand = "input";
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
  claimer.port = job->weight_memory ? TVM_PULP_PORT_WEIGHT : TVM_PULP_PORT_L1;
  claim_weights(&claimer, &engine->options.geometry, job);
  flush(&claimer);
  return claimer.valid;
}

void neureka_count_traffic(struct neureka_engine *engine, const struct neureka_job *job) {
  const bool depthwise = job->mode == NEUREKA_DEPTHWISE, pointwise = job->mode == NEUREKA_1X1;
  const uint64_t rows = (uint64_t)(job->ho.count - 1) * job->hi_full +
                        neureka_loaded(&engine->options, true, job->hi_full, job->hi_last);
  const uint64_t columns = (uint64_t)(job->wo.count - 1) * job->wi_full +
                           neureka_loaded(&engine->options, true, job->wi_full, job->wi_last);
  const uint64_t subtiles = (uint64_t)job->ho.count * job->wo.count;
  const uint64_t channels_in = neureka_dimension_total(&job->ki), channels_out = neureka_dimension_total(&job->ko);
  const uint64_t outputs = (uint64_t)neureka_dimension_total(&job->ho) * neureka_dimension_total(&job->wo) * channels_out;

  /* Activations are loaded once per Ko subtile, weights and parameters once per spatial subtile. */
  uint64_t l1 = rows * columns * channels_in * (depthwise ? 1 : job->ko.count);
  l1 += outputs * job->output_bytes * (job->stream_in ? 2 : 1);
  if (job->norm_quant) {
    l1 += subtiles * channels_out * (job->scale_bytes + (job->bias ? 4u : 0u) + (job->shift_vector ? 1u : 0u));
  }
  const uint64_t beats = depthwise   ? (uint64_t)job->ko.count * job->weight_bits
                         : pointwise ? channels_out * job->ki.count
                                     : channels_out * job->ki.count * job->weight_bits;
  const uint64_t weights = subtiles * beats * engine->options.geometry.weight_beat_bytes;
  engine->queue.statistics.l1_bytes += l1 + (job->weight_memory ? 0 : weights);
  engine->queue.statistics.weight_bytes += job->weight_memory ? weights : 0;
}
