/* SPDX-License-Identifier: Apache-2.0
 *
 * Cycles of a job in closed form. Exact with respect to the public simulator's state machine on a memory without
 * contention; the constants are its pipeline overheads.
 *
 * Subtiles come in few sizes (full or last, per dimension), so the sum over all subtiles is a sum over size classes
 * weighted by how often each occurs. */
#include "engine.h"

static uint64_t ceil_div(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

uint64_t neureka_load_cycles(const struct neureka_options *options, const struct neureka_job *job, uint32_t hi,
                             uint32_t wi) {
  const struct neureka_geometry *g = &options->geometry;
  const bool pointwise = job->mode == NEUREKA_1X1;
  /* 1x1 always scans the whole array and needs 6 more cycles to drain it. */
  const uint64_t beats = pointwise ? g->pe_rows * g->pe_columns : hi * wi;
  return ceil_div(beats * options->beat_x, 1000) + (pointwise ? 6 : 0);
}

/* Bit-plane beats of one (Ko, Ki) subtile. */
uint64_t neureka_weight_cycles(const struct neureka_options *options, const struct neureka_job *job, uint32_t ko) {
  uint64_t beats = ko;
  if (job->mode == NEUREKA_3X3) beats = (uint64_t)job->weight_bits * ko;
  if (job->mode == NEUREKA_DEPTHWISE)
    beats = (uint64_t)job->weight_bits * (options->gvsoc_dw_wmem_quirk && job->weight_memory ? ko : 1);
  return ceil_div(beats * options->beat_w, 1000);
}

/* Between the load and the first weight beat. Depthwise weight offsets take one cycle per channel. */
uint64_t neureka_compute_overhead(const struct neureka_options *options, const struct neureka_job *job) {
  if (job->mode == NEUREKA_DEPTHWISE) return 6 + options->geometry.channels_3x3;
  if (job->mode == NEUREKA_3X3) return 6;
  if (!job->prefetch) return 10;
  return neureka_is_early(options) ? 7 : 3;
}

/* Behind the weight beats of a step. */
uint64_t neureka_step_end_cycles(const struct neureka_job *job) { return job->mode == NEUREKA_3X3 ? 8 : 0; }

/* Behind the weight beats of the last step, which has nothing to hide behind. */
uint64_t neureka_last_step_cycles(const struct neureka_options *options, const struct neureka_job *job) {
  return neureka_step_end_cycles(job) + (job->prefetch && job->mode == NEUREKA_1X1 && !neureka_is_early(options) ? 10 : 0);
}

/* Scales arrive four bytes per cycle; only the last Ko subtile stops early. */
uint32_t neureka_scale_beats(const struct neureka_options *options, const struct neureka_job *job, uint32_t ko_index) {
  const uint32_t all = options->geometry.output_channels;
  const uint32_t scales = ko_index + 1 == job->ko.count && job->ko.last != all ? job->ko.last : all;
  return job->scale_bytes == 1 ? (uint32_t)ceil_div(scales, 4) : scales;
}

struct cost {
  const struct neureka_options *options;
  const struct neureka_job *job;
};

/* Phases around the Ki loop: stream-in, scale/bias/shift, stream-out. */
static uint64_t frame_cycles(const struct cost *c, uint32_t ko, uint32_t ko_index, uint32_t ho, uint32_t wo) {
  const struct neureka_job *job = c->job;
  const struct neureka_geometry *g = &c->options->geometry;
  uint64_t cycles = 0;
  if (job->stream_in) cycles += (uint64_t)g->pe_rows * g->pe_columns * ceil_div(ko, 8) + 10;
  if (job->norm_quant) {
    cycles += neureka_scale_beats(c->options, job, ko_index) + 17;
    if (job->bias) cycles += g->output_channels / 8;
    if (job->shift_vector) cycles += neureka_is_early(c->options) ? 1 : 8;
  }
  const uint64_t beats = job->output_bytes == 1 ? 1 : ceil_div(ko, 8);
  return cycles + ((uint64_t)(ho - 1) * g->pe_columns + wo) * beats + (job->mode == NEUREKA_1X1 ? 3 : 0);
}

static uint64_t serial_step(const struct cost *c, uint32_t ko, uint32_t hi, uint32_t wi) {
  return 6 + neureka_load_cycles(c->options, c->job, hi, wi) + neureka_compute_overhead(c->options, c->job) +
         neureka_weight_cycles(c->options, c->job, ko) + neureka_step_end_cycles(c->job);
}

/* With prefetch the computation of a step hides behind the load of the next one. */
static uint64_t exposed(const struct cost *c, uint32_t ko, uint64_t load) {
  const uint64_t hidden = neureka_compute_overhead(c->options, c->job) + neureka_weight_cycles(c->options, c->job, ko) +
                          neureka_step_end_cycles(c->job);
  return hidden > load + 3 ? hidden - (load + 3) : 0;
}
static uint64_t prefetch_step(const struct cost *c, uint32_t ko, uint32_t hi, uint32_t wi) {
  const uint64_t load = neureka_load_cycles(c->options, c->job, hi, wi);
  return 6 + load + exposed(c, ko, load) + neureka_compute_overhead(c->options, c->job);
}

uint64_t neureka_job_cycles(const struct neureka_options *options, const struct neureka_job *job) {
  const struct cost c = {options, job};
  const uint64_t ki_steps = job->mode == NEUREKA_DEPTHWISE ? 1 : job->ki.count;
  uint64_t cycles = 1;
  for (int ko_last = 0; ko_last < 2; ko_last++) {
    const uint64_t ko_count = ko_last ? 1 : job->ko.count - 1;
    const uint32_t ko = ko_last ? job->ko.last : job->ko.full;
    if (ko_count == 0) continue;
    uint64_t per_ko = 0;
    for (int ho_last = 0; ho_last < 2; ho_last++) {
      for (int wo_last = 0; wo_last < 2; wo_last++) {
        const uint64_t count =
            (uint64_t)(ho_last ? 1 : job->ho.count - 1) * (uint64_t)(wo_last ? 1 : job->wo.count - 1);
        const uint32_t hi = ho_last ? job->hi_last : job->hi_full, wi = wo_last ? job->wi_last : job->wi_full;
        const uint64_t step = job->prefetch ? prefetch_step(&c, ko, hi, wi) : serial_step(&c, ko, hi, wi);
        per_ko += count * (ki_steps * step + frame_cycles(&c, ko, ko_last ? job->ko.count - 1 : 0, ho_last ? job->ho.last : job->ho.full,
                                                          wo_last ? job->wo.last : job->wo.full));
      }
    }
    if (job->prefetch) {
      /* The first step has nothing to hide, the last one nothing to hide behind. */
      const uint32_t hi = job->ho.count == 1 ? job->hi_last : job->hi_full;
      const uint32_t wi = job->wo.count == 1 ? job->wi_last : job->wi_full;
      per_ko -= exposed(&c, ko, neureka_load_cycles(options, job, hi, wi));
      per_ko += neureka_weight_cycles(options, job, ko) + neureka_last_step_cycles(options, job);
    }
    cycles += ko_count * per_ko;
  }
  return cycles;
}
