/* SPDX-License-Identifier: Apache-2.0
 *
 * Cycles of a job in closed form, on a memory without contention: exact with respect to the public simulator's state
 * machine. Nothing overlaps, and one port serves everything.
 *
 * Subtiles come in few sizes (full or last, per dimension), so the sum over all subtiles is a sum over size classes
 * weighted by how often each occurs. */
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
  const bool whole = options->whole_windows;
  const uint64_t steps = array_is_depthwise(job) ? 1 : job->ki.count;
  uint64_t cycles = 1 + (options->bank_waits ? ne16_bank_waits(job) : 0);
  for (int ko_last = 0; ko_last < 2; ko_last++) {
    const uint64_t ko_count = ko_last ? 1 : job->ko.count - 1;
    if (ko_count == 0) continue;
    const uint32_t k = ko_last ? job->ko.last : job->ko.full;
    const uint64_t step = step_cycles(job, k), frame = frame_cycles(job, k, ko_last);
    if (job->mode == ARRAY_LINEAR) {
      const uint64_t beats = job->output_bytes == 1 ? 1 : ceil_div(k, 8);
      cycles += ko_count * (steps * step + array_dimension_total(&job->ki) + frame + beats);
      continue;
    }
    for (int class = 0; class < 4; class++) {
      const bool ho_last = class & 2, wo_last = class & 1;
      const uint64_t count = (uint64_t)(ho_last ? 1 : job->ho.count - 1) * (wo_last ? 1 : job->wo.count - 1);
      const uint64_t hi = ho_last && !whole ? job->hi_last : job->hi_full, wi = wo_last && !whole ? job->wi_last : job->wi_full;
      const uint64_t load = job->mode == ARRAY_1X1 ? NE16_PATCH * NE16_PATCH : hi * wi;
      const uint32_t ho = ho_last && !whole ? job->ho.last : NE16_PATCH, wo = wo_last && !whole ? job->wo.last : NE16_PATCH;
      cycles += ko_count * count * (steps * (load + step) + frame + output_cycles(job, k, ho, wo));
    }
  }
  return cycles;
}
