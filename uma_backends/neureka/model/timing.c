/* SPDX-License-Identifier: Apache-2.0
 *
 * Cycles of a job in closed form, on a memory without contention. The revisions of the public simulator are exact with
 * respect to its state machine. The RTL revision is what simulations of the public hardware sources took, phase by
 * phase; not measured there, and taken over from the simulator, are stream-in and shifts per channel.
 *
 * Subtiles come in few sizes (full or last, per dimension), so the sum over all subtiles is a sum over size classes
 * weighted by how often each occurs. */
#include "engine.h"

static uint64_t ceil_div(uint64_t value, uint64_t divisor) { return (value + divisor - 1) / divisor; }

uint64_t neureka_job_start_cycles(const struct neureka_options *options) { return neureka_is_rtl(options) ? 3 : 1; }

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

struct cost {
  const struct neureka_options *options;
  const struct array_job *job;
  struct neureka_phases phases;
};

/* Phases around the Ki loop: stream-in, scale/bias/shift, stream-out. */
static uint64_t frame_cycles(const struct cost *c, uint32_t ko, uint32_t ho, uint32_t wo) {
  const struct array_job *job = c->job;
  const struct neureka_geometry *g = &c->options->geometry;
  uint64_t cycles = c->phases.output;
  if (job->stream_in) cycles += (uint64_t)g->pe_rows * g->pe_columns * ceil_div(ko, 8) + 10;
  if (job->norm_quant) {
    cycles += c->phases.scale_beats + c->phases.scale;
    if (job->bias) cycles += c->phases.bias_beats + c->phases.bias;
    if (job->shift_vector) cycles += 1 + c->phases.shift;
  }
  const uint64_t beats = job->output_bytes == 1 ? 1 : ceil_div(ko, 8);
  return cycles + ((uint64_t)(ho - 1) * g->pe_columns + wo) * beats;
}

/* With prefetch the public simulator hides the computation of a step behind the load of the next one. The RTL starts
 * that load when half of the step's weight beats are done, and the step ends when both are. */
static uint64_t exposed(const struct cost *c, uint64_t load) {
  const struct neureka_phases *p = &c->phases;
  const bool rtl = neureka_is_rtl(c->options);
  const uint64_t longer = rtl ? p->weights / 2 + p->load + load : p->offset + p->weights + p->step_end;
  const uint64_t beside = rtl ? p->weights + p->step_end - NEUREKA_RTL_UPDATE : load + 3;
  return longer > beside ? longer - beside : 0;
}

static uint64_t step_cycles(const struct cost *c, uint64_t load) {
  const struct neureka_phases *p = &c->phases;
  const uint64_t computed = p->offset + p->weights + p->step_end;
  if (!c->job->prefetch) return p->load + load + computed;
  if (neureka_is_rtl(c->options)) return computed + exposed(c, load);
  return p->load + load + exposed(c, load) + p->offset;
}

uint64_t neureka_job_cycles(const struct neureka_options *options, const struct array_job *job) {
  struct cost c = {options, job, {0}};
  const uint64_t ki_steps = job->mode == ARRAY_DEPTHWISE ? 1 : job->ki.count;
  const uint64_t first_load =
      neureka_load_cycles(options, job, neureka_loaded(options, job->ho.count == 1, job->hi_full, job->hi_last),
                          neureka_loaded(options, job->wo.count == 1, job->wi_full, job->wi_last));
  uint64_t cycles = neureka_job_start_cycles(options);
  for (int ko_last = 0; ko_last < 2; ko_last++) {
    const uint64_t ko_count = ko_last ? 1 : job->ko.count - 1;
    if (ko_count == 0) continue;
    c.phases = neureka_phases(options, job, ko_last ? job->ko.count - 1 : 0);
    uint64_t per_ko = 0;
    for (int ho_last = 0; ho_last < 2; ho_last++) {
      for (int wo_last = 0; wo_last < 2; wo_last++) {
        const uint64_t count =
            (uint64_t)(ho_last ? 1 : job->ho.count - 1) * (uint64_t)(wo_last ? 1 : job->wo.count - 1);
        const uint64_t load = neureka_load_cycles(options, job, neureka_loaded(options, ho_last, job->hi_full, job->hi_last),
                                                  neureka_loaded(options, wo_last, job->wi_full, job->wi_last));
        per_ko += count * (ki_steps * step_cycles(&c, load) + frame_cycles(&c, ko_last ? job->ko.last : job->ko.full,
                                                                           ho_last ? job->ho.last : job->ho.full,
                                                                           wo_last ? job->wo.last : job->wo.full));
      }
    }
    /* The first step has nothing to hide, the last one nothing to hide behind. */
    if (job->prefetch && !neureka_is_rtl(options)) per_ko += c.phases.weights + c.phases.last_end - exposed(&c, first_load);
    cycles += ko_count * per_ko;
  }
  /* In the RTL they are the first and the last one of the job: it reads ahead across Ko subtiles too. */
  if (job->prefetch && neureka_is_rtl(options)) cycles += c.phases.load + first_load - exposed(&c, first_load);
  return cycles;
}
