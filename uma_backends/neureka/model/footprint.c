/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes a job touches: declared to the system when the job starts, counted when it ends.
 *
 * Ranges are exact (a slice of channels claims only that slice) and merged where they touch. The hardware also fetches
 * bytes it then masks, up to a beat past an operand and, in the RTL, pixels of the window that do not exist; those cannot
 * change a result and are not claimed. Masked pixels do take banks and energy, so they are counted. */
#include "engine.h"

static void claim_input(struct array_claims *claims, const struct neureka_job *job) {
  const uint32_t rows = array_loaded_end(&job->ho, job->hi_full, job->hi_last, job->pad_bottom);
  const uint32_t columns = array_loaded_end(&job->wo, job->wi_full, job->wi_last, job->pad_right);
  const uint32_t channels = array_dimension_total(&job->ki);
  for (uint32_t y = job->pad_top; y < rows && claims->valid; y++) {
    for (uint32_t x = job->pad_left; x < columns && claims->valid; x++) {
      array_claim(claims, job->at.input + y * job->at.input_d1 + x * job->at.input_d0, channels);
    }
  }
}

static void claim_output(struct array_claims *claims, const struct neureka_job *job) {
  const uint32_t rows = array_dimension_total(&job->ho), columns = array_dimension_total(&job->wo);
  const uint32_t bytes = array_dimension_total(&job->ko) * job->output_bytes;
  for (uint32_t y = 0; y < rows && claims->valid; y++) {
    for (uint32_t x = 0; x < columns && claims->valid; x++) {
      array_claim(claims, job->at.output + y * job->at.output_d2 + x * job->at.output_d1, bytes);
    }
  }
}

static void claim_weights(struct array_claims *claims, const struct neureka_geometry *g, const struct neureka_job *job) {
  const uint32_t planes = job->mode == NEUREKA_1X1 ? 1 : job->weight_bits, beat = g->weight_beat_bytes;
  const bool depthwise = job->mode == NEUREKA_DEPTHWISE;
  for (uint32_t major = 0; major < job->ko.count && claims->valid; major++) {
    const uint32_t base = job->at.weights + (depthwise ? major : major * g->output_channels * job->ki.count) * planes * beat;
    const uint32_t channels = depthwise ? 1 : array_dimension_size(&job->ko, major);
    for (uint32_t channel = 0; channel < channels && claims->valid; channel++) {
      for (uint32_t ki = 0; ki < (depthwise ? 1 : job->ki.count) && claims->valid; ki++) {
        for (uint32_t plane = 0; plane < planes; plane++) {
          array_claim(claims, base + channel * job->at.weights_d1 + ki * planes * beat + plane * job->at.weights_d0, beat);
        }
      }
    }
  }
}

bool neureka_claim(struct neureka_engine *engine, const struct neureka_job *job) {
  const uint32_t channels = array_dimension_total(&job->ko);
  struct array_claims claims = {.queue = &engine->queue, .port = TVM_PULP_PORT_L1, .operand = "input", .valid = true};
  claim_input(&claims, job);
  if (job->norm_quant) {
    array_claim_rounding(&claims, &job->at, channels, job->scale_bytes, job->bias, job->shift_vector);
  }
  array_claim_operand(&claims, "output", true);
  claim_output(&claims, job);
  array_claim_operand(&claims, "weight", false);
  claims.port = job->weight_memory ? TVM_PULP_PORT_WEIGHT : TVM_PULP_PORT_L1;
  claim_weights(&claims, &engine->options.geometry, job);
  array_claims_end(&claims);
  return claims.valid;
}

void neureka_count_traffic(struct neureka_engine *engine, const struct neureka_job *job) {
  const bool depthwise = job->mode == NEUREKA_DEPTHWISE, pointwise = job->mode == NEUREKA_1X1;
  const uint64_t rows = (uint64_t)(job->ho.count - 1) * job->hi_full +
                        neureka_loaded(&engine->options, true, job->hi_full, job->hi_last);
  const uint64_t columns = (uint64_t)(job->wo.count - 1) * job->wi_full +
                           neureka_loaded(&engine->options, true, job->wi_full, job->wi_last);
  const uint64_t subtiles = (uint64_t)job->ho.count * job->wo.count;
  const uint64_t channels_in = array_dimension_total(&job->ki), channels_out = array_dimension_total(&job->ko);
  const uint64_t outputs = (uint64_t)array_dimension_total(&job->ho) * array_dimension_total(&job->wo) * channels_out;

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
