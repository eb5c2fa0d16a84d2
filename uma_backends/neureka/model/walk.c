/* SPDX-License-Identifier: Apache-2.0
 *
 * A job access by access, for an L1 whose banks others want too. Each access takes one cycle and as many more as the
 * slowest of its words waits for its bank; where nobody contends the job takes exactly what timing.c says.
 *
 * One wide port serves everything, so accesses follow each other; only the weight beats from the weight memory run
 * beside a load (prefetch), and those touch no bank. */
#include "engine.h"

/* Loads fetch whole words and one more than asked for, so that any alignment is covered. */
static uint64_t load(struct neureka_engine *engine, uint32_t address, uint32_t bytes) {
  return 1 + engine->queue.system.take_banks(engine->queue.system.context, address & ~3u, bytes / 4 * 4 + 4, engine->walk.cycle);
}

static uint64_t store(struct neureka_engine *engine, uint32_t address, uint32_t bytes) {
  return 1 + engine->queue.system.take_banks(engine->queue.system.context, address, bytes, engine->walk.cycle);
}

/* An access takes a cycle at least, however fast the beats are set. */
static uint64_t beyond(uint64_t cycles, uint64_t accesses) { return cycles > accesses ? cycles - accesses : 0; }

static uint32_t window(const struct neureka_dimension *output, uint32_t index, uint32_t full, uint32_t last) {
  return index + 1 == output->count ? last : full;
}

static uint32_t channels_out(const struct neureka_engine *engine) {
  return neureka_dimension_size(&engine->job.ko, engine->walk.ko);
}

static bool is_last_spatial(const struct neureka_engine *engine) {
  return engine->walk.ho + 1 == engine->job.ho.count && engine->walk.wo + 1 == engine->job.wo.count;
}

static uint32_t ki_count(const struct neureka_job *job) { return job->mode == NEUREKA_DEPTHWISE ? 1 : job->ki.count; }

/* Beats of one pixel when 32-bit values stream. */
static uint32_t word_beats(uint32_t channels) { return (channels + 7) / 8; }

static void enter(struct neureka_walk *walk, enum neureka_phase phase, uint64_t cycles) {
  walk->phase = phase;
  walk->row = walk->column = walk->beat = 0;
  walk->cycle += cycles;
}

/* Six cycles of control come before each load. */
static void enter_load(struct neureka_engine *engine, uint64_t cycles) {
  enter(&engine->walk, NEUREKA_LOAD, cycles + 6);
  engine->walk.load_cycles = 3;
}

static void enter_subtile(struct neureka_engine *engine, uint64_t cycles) {
  engine->walk.ki = 0;
  if (engine->job.stream_in) enter(&engine->walk, NEUREKA_STREAM_IN, cycles);
  else enter_load(engine, cycles);
}

void neureka_walk_start(struct neureka_engine *engine, uint64_t cycle) {
  engine->walk = (struct neureka_walk){.cycle = cycle};
  enter_subtile(engine, 1);
}

static uint32_t pixel_out(const struct neureka_engine *engine, uint32_t bytes_per_channel) {
  const struct neureka_job *job = &engine->job;
  const struct neureka_walk *walk = &engine->walk;
  return job->output + (walk->ho * job->ho.full + walk->row) * job->output_d2 +
         (walk->wo * job->wo.full + walk->column) * job->output_d1 + walk->beat * job->output_d0 +
         walk->ko * job->ko.full * bytes_per_channel;
}

static uint32_t beat_bytes(const struct neureka_engine *engine, uint32_t channels) {
  const uint32_t left = channels - 8 * engine->walk.beat;
  return 4 * (left < 8 ? left : 8);
}

static void stream_in(struct neureka_engine *engine) {
  const struct neureka_geometry *g = &engine->options.geometry;
  struct neureka_walk *walk = &engine->walk;
  const uint32_t channels = channels_out(engine);
  walk->cycle += load(engine, pixel_out(engine, 4), beat_bytes(engine, channels));
  if (++walk->beat < word_beats(channels)) return;
  walk->beat = 0;
  if (++walk->column < g->pe_columns) return;
  walk->column = 0;
  if (++walk->row == g->pe_rows) enter_load(engine, 10);
}

static void finish_frame(struct neureka_engine *engine);

/* The weight beats of a step need L1 only where they come from there. */
static void finish_weights(struct neureka_engine *engine) {
  const struct neureka_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  const bool is_last = walk->ki + 1 == ki_count(job);
  if (is_last && is_last_spatial(engine)) walk->cycle += neureka_last_step_cycles(&engine->options, job);
  else if (job->prefetch) walk->compute_cycles += neureka_step_end_cycles(job);
  else walk->cycle += neureka_step_end_cycles(job);
  if (is_last) {
    finish_frame(engine);
  } else {
    walk->ki++;
    enter_load(engine, 0);
  }
}

/* The load of a step is over: what it hid comes first. */
static void finish_load(struct neureka_engine *engine) {
  const struct neureka_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  const uint64_t overhead = neureka_compute_overhead(&engine->options, job);
  const uint64_t beats = neureka_weight_cycles(&engine->options, job, channels_out(engine));
  if (job->prefetch && walk->compute_cycles > walk->load_cycles) walk->cycle += walk->compute_cycles - walk->load_cycles;
  enter(walk, NEUREKA_WEIGHTS, overhead);
  walk->compute_cycles = overhead;
  if (!job->weight_memory) return;
  if (job->prefetch && !(walk->ki + 1 == ki_count(job) && is_last_spatial(engine))) walk->compute_cycles += beats;
  else walk->cycle += beats;
  finish_weights(engine);
}

static void load_pixel(struct neureka_engine *engine) {
  const struct neureka_job *job = &engine->job;
  const struct neureka_geometry *g = &engine->options.geometry;
  struct neureka_walk *walk = &engine->walk;
  const uint32_t hi = window(&job->ho, walk->ho, job->hi_full, job->hi_last);
  const uint32_t wi = window(&job->wo, walk->wo, job->wi_full, job->wi_last);
  const uint32_t channel = (job->mode == NEUREKA_DEPTHWISE ? walk->ko : walk->ki) * job->ki.full;
  const bool is_last = (channel / job->ki.full) + 1 == job->ki.count && job->ki.last != g->channels_1x1;
  const uint32_t address = job->input + (walk->ho * g->pe_rows + walk->row) * job->input_d1 +
                           (walk->wo * g->pe_columns + walk->column) * job->input_d0 + channel;
  uint64_t cycles = load(engine, address, is_last ? job->ki.last : g->channels_1x1);
  const bool is_over = walk->row + 1 == hi && walk->column + 1 == wi;
  /* What the formula has beyond one cycle per pixel: the rest of the array in 1x1 mode, slower beats. */
  if (is_over) cycles += beyond(neureka_load_cycles(&engine->options, job, hi, wi), hi * wi);
  walk->cycle += cycles;
  walk->load_cycles += cycles;
  if (is_over) {
    finish_load(engine);
  } else if (++walk->column == wi) {
    walk->column = 0;
    walk->row++;
  }
}

/* Weights in L1: no prefetch there. */
static void load_weights(struct neureka_engine *engine) {
  const struct neureka_job *job = &engine->job;
  const uint32_t beat = engine->options.geometry.weight_beat_bytes;
  struct neureka_walk *walk = &engine->walk;
  const bool depthwise = job->mode == NEUREKA_DEPTHWISE;
  const uint32_t planes = job->mode == NEUREKA_1X1 ? 1 : job->weight_bits;
  const uint32_t channels = depthwise ? 1 : channels_out(engine);
  const uint32_t before = depthwise ? walk->ko : walk->ko * job->ko.full * job->ki.count + walk->ki;
  const uint32_t address =
      job->weights + before * planes * beat + walk->row * job->weights_d1 + walk->beat * job->weights_d0;
  walk->cycle += load(engine, address, beat);
  if (++walk->beat < planes) return;
  walk->beat = 0;
  if (++walk->row < channels) return;
  walk->cycle += beyond(neureka_weight_cycles(&engine->options, job, channels_out(engine)), channels * planes);
  finish_weights(engine);
}

static void finish_frame(struct neureka_engine *engine) {
  const struct neureka_job *job = &engine->job;
  if (!job->norm_quant) enter(&engine->walk, NEUREKA_STREAM_OUT, 0);
  else enter(&engine->walk, job->shift_vector ? NEUREKA_SHIFT : NEUREKA_SCALE, 0);
}

static void load_shifts(struct neureka_engine *engine) {
  const struct neureka_job *job = &engine->job;
  const uint64_t cycles =
      load(engine, job->shifts + engine->walk.ko * job->ko.full, engine->options.geometry.output_channels);
  enter(&engine->walk, NEUREKA_SCALE, cycles + (neureka_is_early(&engine->options) ? 0 : 7));
}

/* Nine cycles behind the scales, eight behind the biases. */
static void load_scales(struct neureka_engine *engine) {
  const struct neureka_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  walk->cycle += load(engine, job->scale + walk->ko * job->ko.full * job->scale_bytes + 4 * walk->beat, 4);
  if (++walk->beat < neureka_scale_beats(&engine->options, job, walk->ko)) return;
  if (job->bias) enter(walk, NEUREKA_BIAS, 9);
  else enter(walk, NEUREKA_STREAM_OUT, 9 + 8);
}

static void load_biases(struct neureka_engine *engine) {
  const struct neureka_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  walk->cycle += load(engine, job->biases + walk->ko * job->ko.full * 4 + 32 * walk->beat, 32);
  if (++walk->beat == engine->options.geometry.output_channels / 8) enter(walk, NEUREKA_STREAM_OUT, 8);
}

/* True behind the last subtile of the job. */
static bool next_subtile(struct neureka_engine *engine) {
  const struct neureka_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  if (++walk->wo == job->wo.count) {
    walk->wo = 0;
    if (++walk->ho == job->ho.count) {
      walk->ho = 0;
      walk->compute_cycles = 0;
      if (++walk->ko == job->ko.count) return true;
    }
  }
  enter_subtile(engine, 0);
  return false;
}

/* The array is scanned up to its last active element; what lies outside the output costs a cycle and no access. */
static bool stream_out(struct neureka_engine *engine) {
  const struct neureka_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  const uint32_t ho = neureka_dimension_size(&job->ho, walk->ho), wo = neureka_dimension_size(&job->wo, walk->wo);
  const uint32_t channels = channels_out(engine);
  const uint32_t beats = job->output_bytes == 1 ? 1 : word_beats(channels);
  const uint32_t bytes = job->output_bytes == 1 ? channels : beat_bytes(engine, channels);
  walk->cycle += walk->column < wo ? store(engine, pixel_out(engine, job->output_bytes), bytes) : 1;
  if (++walk->beat < beats) return false;
  walk->beat = 0;
  if (walk->row + 1 == ho && walk->column + 1 == wo) {
    if (job->mode == NEUREKA_1X1) walk->cycle += 3;
    return next_subtile(engine);
  }
  if (++walk->column == engine->options.geometry.pe_columns) {
    walk->column = 0;
    walk->row++;
  }
  return false;
}

bool neureka_walk_step(struct neureka_engine *engine) {
  switch (engine->walk.phase) {
    case NEUREKA_STREAM_IN: stream_in(engine); return false;
    case NEUREKA_LOAD: load_pixel(engine); return false;
    case NEUREKA_WEIGHTS: load_weights(engine); return false;
    case NEUREKA_SHIFT: load_shifts(engine); return false;
    case NEUREKA_SCALE: load_scales(engine); return false;
    case NEUREKA_BIAS: load_biases(engine); return false;
    default: return stream_out(engine);
  }
}
