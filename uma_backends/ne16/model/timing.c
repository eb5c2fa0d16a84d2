/* SPDX-License-Identifier: Apache-2.0
 *
 * Cycles of a job, subtile by subtile, on a memory without contention: exact with respect to the public simulator's
 * state machine. Nothing overlaps, and one port serves everything. */
#include "engine.h"

static uint64_t ceil_div(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

/* One pass of input channels through the array, without its loads of pixels. */
static uint64_t step_cycles(const struct array_job *job, uint32_t k) {
  const uint64_t planes = (uint64_t)job->weight_bits * k;
  switch (job->mode) {
    case ARRAY_3X3: return 6 + 12 + planes;
    case ARRAY_DEPTHWISE: return 6 + 22 + planes;
    case ARRAY_1X1: return 6 + 16 + k;
    default: return 6 + 16 + planes;
  }
}

/* Stream-in, shift, scale and bias. Only the last Ko subtile stops its scales early. */
static uint64_t frame_cycles(const struct array_job *job, uint32_t k, bool is_last) {
  uint64_t cycles = job->stream_in ? NE16_PATCH * NE16_PATCH * ceil_div(k, 8) : 0;
  if (!job->norm_quant) return cycles;
  cycles += ceil_div((uint64_t)(is_last ? k : NE16_OUTPUT_CHANNELS) * job->scale_bytes, 4);
  return cycles + (job->shift_vector ? 1 : 0) + (job->bias ? 4 : 0);
}

/* 1x1 jobs wait for the pipeline behind few values. */
static uint64_t output_cycles(const struct array_job *job, uint32_t k, uint32_t ho, uint32_t wo) {
  const uint64_t beats = ((uint64_t)(ho - 1) * NE16_PATCH + wo) * (job->output_bytes == 1 ? 1 : ceil_div(k, 8));
  if (job->mode != ARRAY_1X1) return beats;
  const uint64_t written = (uint64_t)ho * wo * job->output_bytes;
  return beats - 1 + (written < 10 ? 10 - written : 0);
}

uint64_t ne16_job_cycles(const struct ne16_options *options, const struct array_job *job) {
  const bool linear = job->mode == ARRAY_LINEAR, whole = options->whole_windows && !linear;
  const uint64_t steps = array_is_depthwise(job) ? 1 : job->ki.count;
  struct ne16_banks banks = {0};
  uint64_t cycles = 1;
  for (uint32_t a = 0; a < job->ko.count; a++) {
    const uint32_t k = array_dimension_size(&job->ko, a);
    const uint64_t computed = steps * step_cycles(job, k) + frame_cycles(job, k, a + 1 == job->ko.count);
    for (uint32_t i = 0; i < job->ho.count; i++) {
      for (uint32_t j = 0; j < job->wo.count; j++) {
        const uint64_t hi = i + 1 == job->ho.count && !whole ? job->hi_last : job->hi_full;
        const uint64_t wi = j + 1 == job->wo.count && !whole ? job->wi_last : job->wi_full;
        const uint64_t load = job->mode == ARRAY_1X1 ? NE16_PATCH * NE16_PATCH : hi * wi;
        const uint32_t ho = whole ? NE16_PATCH : array_dimension_size(&job->ho, i);
        const uint32_t wo = whole ? NE16_PATCH : array_dimension_size(&job->wo, j);
        cycles += (linear ? array_dimension_total(&job->ki) : steps * load) + computed + output_cycles(job, k, ho, wo);
        if (options->bank_waits) ne16_take_banks(&banks, job, a, i, j);
      }
    }
  }
  return cycles + banks.waited;
}
