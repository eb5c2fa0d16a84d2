/* SPDX-License-Identifier: Apache-2.0
 *
 * Cycles of a job in closed form. Exact with respect to the public simulator's state machine on a memory without
 * contention; the constants are its pipeline overheads.
 *
 * Subtiles come in few sizes (full or last, per dimension), so the sum over all subtiles is a sum over size classes
 * weighted by how often each occurs. */
#include "engine.h"

struct cost {
  const struct neureka_options *options;
  const struct neureka_job *job;
};

static uint64_t ceil_div(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

static uint64_t weight_beats(const struct cost *c, uint64_t beats) { return ceil_div(beats * c->options->beat_w, 1000); }

static uint64_t input_beats(const struct cost *c, uint32_t hi, uint32_t wi) {
  const struct neureka_geometry *g = &c->options->geometry;
  const bool pointwise = c->job->mode == NEUREKA_1X1;
  /* 1x1 always scans the whole array and needs 6 more cycles to drain it. */
  const uint64_t beats = pointwise ? g->pe_rows * g->pe_columns : hi * wi;
  return ceil_div(beats * c->options->beat_x, 1000) + (pointwise ? 6 : 0);
}

/* Bit-plane beats of one (Ko, Ki) subtile. */
static uint64_t compute_beats(const struct cost *c, uint32_t ko) {
  const struct neureka_job *job = c->job;
  switch (job->mode) {
    case NEUREKA_1X1: return weight_beats(c, ko);
    case NEUREKA_3X3: return weight_beats(c, (uint64_t)job->weight_bits * ko);
    default: {
      const bool quirk = c->options->gvsoc_dw_wmem_quirk && job->weight_memory;
      return weight_beats(c, (uint64_t)job->weight_bits * (quirk ? ko : 1));
    }
  }
}

/* Phases around the Ki loop: stream-in, scale/bias/shift, stream-out. */
static uint64_t frame_cycles(const struct cost *c, uint32_t ko, bool last_ko, uint32_t ho, uint32_t wo) {
  const struct neureka_job *job = c->job;
  const struct neureka_geometry *g = &c->options->geometry;
  uint64_t cycles = 0;
  if (job->stream_in) cycles += (uint64_t)g->pe_rows * g->pe_columns * ceil_div(ko, 8) + 10;
  if (job->norm_quant) {
    /* Scales arrive four bytes per cycle; only the last Ko subtile stops early. */
    const uint32_t scales = last_ko && job->ko.last != g->output_channels ? job->ko.last : g->output_channels;
    cycles += (job->scale_bytes == 1 ? ceil_div(scales, 4) : scales) + 17;
    if (job->bias) cycles += g->output_channels / 8;
    if (job->shift_vector) cycles += 8;
  }
  const uint64_t beats = job->output_bytes == 1 ? 1 : ceil_div(ko, 8);
  return cycles + ((uint64_t)(ho - 1) * g->pe_columns + wo) * beats + (job->mode == NEUREKA_1X1 ? 3 : 0);
}

static uint64_t serial_step(const struct cost *c, uint32_t ko, uint32_t hi, uint32_t wi) {
  /* Depthwise weight offsets take one cycle per channel. */
  const uint64_t overhead = c->job->mode == NEUREKA_1X1   ? 10
                            : c->job->mode == NEUREKA_3X3 ? 14
                                                          : 6 + c->options->geometry.channels_3x3;
  return 6 + input_beats(c, hi, wi) + overhead + compute_beats(c, ko);
}

/* With prefetch the computation of a step hides behind the load of the next one. */
static uint64_t prefetch_pre(const struct cost *c) { return c->job->mode == NEUREKA_1X1 ? 3 : 6; }
static uint64_t prefetch_body(const struct cost *c, uint32_t ko) {
  return compute_beats(c, ko) + (c->job->mode == NEUREKA_1X1 ? 0 : 8);
}
static uint64_t exposed(const struct cost *c, uint32_t ko, uint64_t load) {
  const uint64_t hidden = prefetch_pre(c) + prefetch_body(c, ko);
  return hidden > load + 3 ? hidden - (load + 3) : 0;
}
static uint64_t prefetch_step(const struct cost *c, uint32_t ko, uint32_t hi, uint32_t wi) {
  const uint64_t load = input_beats(c, hi, wi);
  return 6 + load + exposed(c, ko, load) + prefetch_pre(c);
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
        per_ko += count * (ki_steps * step + frame_cycles(&c, ko, ko_last, ho_last ? job->ho.last : job->ho.full,
                                                          wo_last ? job->wo.last : job->wo.full));
      }
    }
    if (job->prefetch) {
      /* The first step has nothing to hide, the last one nothing to hide behind. */
      const uint32_t hi = job->ho.count == 1 ? job->hi_last : job->hi_full;
      const uint32_t wi = job->wo.count == 1 ? job->wi_last : job->wi_full;
      per_ko -= exposed(&c, ko, input_beats(&c, hi, wi));
      per_ko += prefetch_body(&c, ko) + (job->mode == NEUREKA_1X1 ? 10 : 0);
    }
    cycles += ko_count * per_ko;
  }
  return cycles;
}
