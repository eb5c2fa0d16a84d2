/* SPDX-License-Identifier: Apache-2.0
 *
 * Cycles of the phases of a job, on a memory without contention. The revisions of the public simulator are exact with
 * respect to its state machine. The RTL revision is what simulations of the public hardware sources took, phase by
 * phase; not measured there, and taken over from the simulator, are stream-in and shifts per channel. */
#include "engine.h"

static uint64_t ceil_div(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

uint64_t neureka_load_cycles(const struct neureka_options *options, const struct array_job *job, uint32_t hi,
                             uint32_t wi) {
  const struct neureka_geometry *g = &options->geometry;
  const bool pointwise = job->mode == ARRAY_1X1;
  const uint64_t beats = pointwise ? g->pe_rows * g->pe_columns : hi * wi;
  /* 1x1 always scans the whole array; the public simulator adds 6 cycles to drain it. */
  return ceil_div(beats * options->beat_x, 1000) + (pointwise && !neureka_is_rtl(options) ? 6 : 0);
}

/* Bit-plane beats of one (Ko, Ki) subtile. */
static uint64_t weight_beats(const struct neureka_options *options, const struct array_job *job, uint32_t ko) {
  if (job->mode == ARRAY_1X1) return ko;
  if (job->mode == ARRAY_3X3) return (uint64_t)job->weight_bits * ko;
  const bool per_channel = options->gvsoc_dw_wmem_quirk && job->weight_memory && !neureka_is_rtl(options);
  return (uint64_t)job->weight_bits * (per_channel ? ko : 1);
}

/* Depthwise weight offsets take one cycle per channel; scales arrive four bytes per cycle, biases in eights. */
static struct neureka_phases rtl_phases(const struct array_job *job, uint64_t beats, uint32_t ko) {
  const bool depthwise = job->mode == ARRAY_DEPTHWISE;
  const uint64_t drain = (depthwise ? 5 : 6) - (beats <= 4 ? 1 : 0);
  return (struct neureka_phases){
      .load = 5,
      .offset = depthwise ? ko + 5 : 6,
      .step_end = drain + NEUREKA_RTL_UPDATE,
      .last_end = drain + NEUREKA_RTL_UPDATE,
      .scale_beats = job->scale_bytes == 1 ? (uint32_t)ceil_div(ko, 4) : ko,
      .bias_beats = (uint32_t)ceil_div(ko, 8),
      .shift = 7,
      .scale = job->bias ? 8 : 7,
      .bias = 7,
      .output = 4,
  };
}

/* Only the last Ko subtile stops its scales early. */
static struct neureka_phases simulator_phases(const struct neureka_options *options, const struct array_job *job,
                                              uint32_t ko_index) {
  const struct neureka_geometry *g = &options->geometry;
  const bool early = neureka_is_early(options), pointwise = job->mode == ARRAY_1X1;
  const uint32_t all = g->output_channels;
  const uint32_t scales = ko_index + 1 == job->ko.count && job->ko.last != all ? job->ko.last : all;
  const uint64_t end = job->mode == ARRAY_3X3 ? 8 : 0;
  return (struct neureka_phases){
      .load = 6,
      .offset = job->mode == ARRAY_DEPTHWISE ? 6 + g->channels_3x3
                : job->mode == ARRAY_3X3     ? 6
                : !job->prefetch               ? 10
                                               : (early ? 7 : 3),
      .step_end = end,
      .last_end = end + (job->prefetch && pointwise && !early ? 10 : 0),
      .scale_beats = job->scale_bytes == 1 ? (uint32_t)ceil_div(scales, 4) : scales,
      .bias_beats = all / 8,
      .shift = early ? 0 : 7,
      .scale = job->bias ? 9 : 9 + 8,
      .bias = 8,
      .output = pointwise ? 3 : 0,
  };
}

struct neureka_phases neureka_phases(const struct neureka_options *options, const struct array_job *job,
                                     uint32_t ko_index) {
  const uint32_t ko = array_dimension_size(&job->ko, ko_index);
  const uint64_t beats = weight_beats(options, job, ko);
  struct neureka_phases phases =
      neureka_is_rtl(options) ? rtl_phases(job, beats, ko) : simulator_phases(options, job, ko_index);
  phases.weights = ceil_div(beats * options->beat_w, 1000);
  return phases;
}
