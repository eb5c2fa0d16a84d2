/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes a job touches: declared to the system when the job starts, counted when it ends.
 *
 * Ranges are exact (a slice of channels claims only that slice) and merged where they touch. The hardware also fetches
 * bytes it then masks; those cannot change a result and are not claimed. */
#include "engine.h"

static void claim_input(struct array_claims *claims, const struct ne16_job *job) {
  const uint32_t rows = array_loaded_end(&job->ho, job->hi_full, job->hi_last, job->pad_bottom);
  const uint32_t columns = array_loaded_end(&job->wo, job->wi_full, job->wi_last, job->pad_right);
  for (uint32_t y = job->pad_top; y < rows && claims->valid; y++) {
    for (uint32_t x = job->pad_left; x < columns && claims->valid; x++) {
      array_claim(claims, job->at.input + y * job->at.input_d1 + x * job->at.input_d0, ne16_input_bytes(job));
    }
  }
}

static void claim_output(struct array_claims *claims, const struct ne16_job *job) {
  const uint32_t rows = array_dimension_total(&job->ho), columns = array_dimension_total(&job->wo);
  const uint32_t bytes = array_dimension_total(&job->ko) * job->output_bytes, step = ne16_output_step(job);
  for (uint32_t y = 0; y < rows && claims->valid; y += step) {
    for (uint32_t x = 0; x < columns && claims->valid; x += step) {
      array_claim(claims, job->at.output + y * job->at.output_d2 + x * job->at.output_d1, bytes);
    }
  }
}

/* As in hardware, the step between Ko and Ki subtiles follows from the counts; the stride registers only act within a
 * subtile. Packed tensors make both agree. */
uint32_t ne16_weights_at(const struct ne16_job *job, uint32_t channel, uint32_t group) {
  const uint32_t bytes = job->weight_bits * ne16_plane_bytes(job);
  if (ne16_is_depthwise(job)) return job->at.weights + channel / job->ko.full * bytes;
  const uint32_t major = channel / job->ko.full, minor = channel % job->ko.full;
  if (job->mode == NE16_LINEAR) return job->at.weights + major * job->at.weights_d2 + minor * job->at.weights_d1;
  return job->at.weights + major * job->ko.full * job->ki.count * bytes + minor * job->at.weights_d1 + group * bytes;
}

static void claim_weights(struct array_claims *claims, const struct ne16_job *job) {
  const uint32_t channels = array_dimension_total(&job->ko), step = ne16_is_depthwise(job) ? job->ko.full : 1;
  const bool linear = job->mode == NE16_LINEAR;
  const uint32_t groups = linear || ne16_is_depthwise(job) ? 1 : job->ki.count;
  const uint32_t bytes = linear ? ne16_input_bytes(job) / 8 : ne16_plane_bytes(job);
  const uint32_t between = job->mode == NE16_1X1 ? bytes : job->at.weights_d0;
  for (uint32_t channel = 0; channel < channels && claims->valid; channel += step) {
    for (uint32_t group = 0; group < groups && claims->valid; group++) {
      const uint32_t start = ne16_weights_at(job, channel, group);
      for (uint32_t plane = 0; plane < job->weight_bits; plane++) array_claim(claims, start + plane * between, bytes);
    }
  }
}

bool ne16_claim(struct ne16_engine *engine, const struct ne16_job *job) {
  const uint32_t channels = array_dimension_total(&job->ko);
  struct array_claims claims = {.queue = &engine->queue, .port = TVM_PULP_PORT_L1, .operand = "input", .valid = true};
  claim_input(&claims, job);
  if (job->norm_quant) {
    array_claim_rounding(&claims, &job->at, channels, job->scale_bytes, job->bias, job->shift_vector);
  }
  array_claim_operand(&claims, "output", true);
  claim_output(&claims, job);
  array_claim_operand(&claims, "weight", false);
  claim_weights(&claims, job);
  array_claims_end(&claims);
  return claims.valid;
}

/* Activations are loaded once per Ko subtile, weights and parameters once per spatial subtile. */
void ne16_count_traffic(struct ne16_engine *engine, const struct ne16_job *job) {
  const bool whole = engine->options.whole_windows, depthwise = ne16_is_depthwise(job);
  const uint64_t rows = (uint64_t)(job->ho.count - 1) * job->hi_full + (whole ? job->hi_full : job->hi_last);
  const uint64_t columns = (uint64_t)(job->wo.count - 1) * job->wi_full + (whole ? job->wi_full : job->wi_last);
  const uint64_t subtiles = (uint64_t)job->ho.count * job->wo.count, channels = array_dimension_total(&job->ko);
  const uint32_t step = ne16_output_step(job);
  const uint64_t outputs = (uint64_t)((array_dimension_total(&job->ho) + step - 1) / step) *
                           ((array_dimension_total(&job->wo) + step - 1) / step) * channels;
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
