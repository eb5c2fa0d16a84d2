/* SPDX-License-Identifier: Apache-2.0
 *
 * A job access by access. Each takes one cycle and, where others want the banks of L1 too, as many more as the slowest of
 * its words waits for its bank.
 *
 * One wide port serves everything, so accesses follow each other; only the weight beats from the weight memory run
 * beside a load (prefetch), and those touch no bank. */
#include "engine.h"

static bool others_contend(const struct neureka_engine *engine) { return engine->queue.system.take_banks != NULL; }

static uint64_t store(struct neureka_engine *engine, uint32_t address, uint32_t bytes) {
  const struct tvm_pulp_system *system = &engine->queue.system;
  return 1 + (others_contend(engine) ? system->take_banks(system->context, address, bytes, engine->walk.cycle) : 0);
}

/* Loads fetch whole words and one more than asked for, so that any alignment is covered. */
static uint64_t load(struct neureka_engine *engine, uint32_t address, uint32_t bytes) {
  return store(engine, address & ~3u, bytes / 4 * 4 + 4);
}

/* What a phase has beyond its accesses. In banks that others want an access takes a cycle at least, however fast the
 * beats are set; else the phase may be shorter, modulo 2^64. */
static uint64_t beyond(const struct neureka_engine *engine, uint64_t cycles, uint64_t accesses) {
  return cycles > accesses || !others_contend(engine) ? cycles - accesses : 0;
}

/* Rows or columns that are loaded for a subtile: the RTL always loads the whole window and masks what does not exist. */
static uint32_t loaded(const struct neureka_engine *engine, bool is_last, uint32_t full, uint32_t last) {
  return is_last && !neureka_is_rtl(&engine->options) ? last : full;
}

static uint32_t channels_out(const struct neureka_engine *engine) {
  return array_dimension_size(&engine->job.ko, engine->walk.step.ko);
}

static bool is_last_spatial(const struct neureka_engine *engine) {
  return engine->walk.step.ho + 1 == engine->job.ho.count && engine->walk.step.wo + 1 == engine->job.wo.count;
}

static uint32_t ki_count(const struct array_job *job) { return job->mode == ARRAY_DEPTHWISE ? 1 : job->ki.count; }

/* Beats of one pixel when 32-bit values stream. */
static uint32_t word_beats(uint32_t channels) { return (channels + 7) / 8; }

static void enter(struct neureka_walk *walk, enum neureka_phase phase, uint64_t cycles) {
  walk->phase = phase;
  walk->row = walk->column = walk->beat = 0;
  walk->cycle += cycles;
}

/* Move on to the next step of the job; false behind its last one. */
static bool next_step(const struct array_job *job, struct neureka_step *step) {
  if (++step->ki < ki_count(job)) return true;
  step->ki = 0;
  if (++step->wo < job->wo.count) return true;
  step->wo = 0;
  if (++step->ho < job->ho.count) return true;
  step->ho = 0;
  return ++step->ko < job->ko.count;
}

static void enter_load(struct neureka_engine *engine, uint64_t cycles) {
  struct neureka_walk *walk = &engine->walk;
  enter(walk, NEUREKA_LOAD, cycles + walk->phases.load);
  walk->loaded = walk->step;
  walk->load_cycles = 3;
}

static void finish_frame(struct neureka_engine *engine);

/* RTL with prefetch: the pixels of the next step arrive during the second half of this one's weight beats. */
static void compute_and_read_ahead(struct neureka_engine *engine) {
  struct neureka_walk *walk = &engine->walk;
  const struct neureka_phases *p = &walk->phases;
  struct neureka_step next = walk->step;
  if (!next_step(&engine->job, &next)) {
    walk->cycle += p->offset + p->weights + p->last_end;
    finish_frame(engine);
    return;
  }
  walk->loaded = next;
  walk->compute_end = walk->cycle + p->offset + p->weights + p->step_end - NEUREKA_RTL_UPDATE;
  enter(walk, NEUREKA_LOAD, p->offset + p->weights / 2 + p->load);
}

/* The pixels of the first step of a job, or with the simulator's timing of any step, are still to be read. */
static void enter_step(struct neureka_engine *engine, uint64_t cycles) {
  if (engine->walk.compute_end == 0) {
    enter_load(engine, cycles);
    return;
  }
  engine->walk.cycle += cycles;
  compute_and_read_ahead(engine);
}

static void enter_subtile(struct neureka_engine *engine, uint64_t cycles) {
  engine->walk.phases = neureka_phases(&engine->options, &engine->job, engine->walk.step.ko);
  if (engine->job.stream_in) enter(&engine->walk, NEUREKA_STREAM_IN, cycles);
  else enter_step(engine, cycles);
}

void neureka_walk_start(struct neureka_engine *engine, uint64_t cycle) {
  engine->walk = (struct neureka_walk){.cycle = cycle};
  enter_subtile(engine, neureka_is_rtl(&engine->options) ? 3 : 1);
}

static uint32_t pixel_out(const struct neureka_engine *engine, uint32_t bytes_per_channel) {
  const struct array_job *job = &engine->job;
  const struct neureka_walk *walk = &engine->walk;
  return job->at.output + (walk->step.ho * job->ho.full + walk->row) * job->at.output_d2 +
         (walk->step.wo * job->wo.full + walk->column) * job->at.output_d1 + walk->beat * job->at.output_d0 +
         walk->step.ko * job->ko.full * bytes_per_channel;
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
  if (++walk->row == g->pe_rows) enter_step(engine, 10);
}

/* The weight beats of a step need L1 only where they come from there. */
static void finish_weights(struct neureka_engine *engine) {
  const struct array_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  const bool is_last = walk->step.ki + 1 == ki_count(job);
  if (is_last && is_last_spatial(engine)) walk->cycle += walk->phases.last_end;
  else if (job->prefetch) walk->compute_cycles += walk->phases.step_end;
  else walk->cycle += walk->phases.step_end;
  if (is_last) {
    finish_frame(engine);
  } else {
    walk->step.ki++;
    enter_load(engine, 0);
  }
}

/* RTL with prefetch: the load of a job's first step is over, or that of a step beside the weights of the one before. */
static void finish_load_ahead(struct neureka_engine *engine) {
  struct neureka_walk *walk = &engine->walk;
  if (walk->compute_end != 0) {
    if (walk->compute_end > walk->cycle) walk->cycle = walk->compute_end;
    walk->cycle += NEUREKA_RTL_UPDATE;
    if (walk->step.ki + 1 == ki_count(&engine->job)) {
      finish_frame(engine);
      return;
    }
    walk->step = walk->loaded;
  }
  compute_and_read_ahead(engine);
}

/* The load of a step is over: what it hid comes first. */
static void finish_load(struct neureka_engine *engine) {
  const struct array_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  const uint64_t overhead = walk->phases.offset, beats = walk->phases.weights;
  if (job->prefetch && walk->compute_cycles > walk->load_cycles) walk->cycle += walk->compute_cycles - walk->load_cycles;
  enter(walk, NEUREKA_WEIGHTS, overhead);
  walk->compute_cycles = overhead;
  if (!job->weight_memory) return;
  if (job->prefetch && !(walk->step.ki + 1 == ki_count(job) && is_last_spatial(engine))) walk->compute_cycles += beats;
  else walk->cycle += beats;
  finish_weights(engine);
}

static void load_pixel(struct neureka_engine *engine) {
  const struct array_job *job = &engine->job;
  const struct neureka_geometry *g = &engine->options.geometry;
  struct neureka_walk *walk = &engine->walk;
  const struct neureka_step *step = &walk->loaded;
  const uint32_t hi = loaded(engine, step->ho + 1 == job->ho.count, job->hi_full, job->hi_last);
  const uint32_t wi = loaded(engine, step->wo + 1 == job->wo.count, job->wi_full, job->wi_last);
  const uint32_t channel = (job->mode == ARRAY_DEPTHWISE ? step->ko : step->ki) * job->ki.full;
  const bool is_last = (channel / job->ki.full) + 1 == job->ki.count && job->ki.last != g->channels_1x1;
  const uint32_t address = job->at.input + (step->ho * g->pe_rows + walk->row) * job->at.input_d1 +
                           (step->wo * g->pe_columns + walk->column) * job->at.input_d0 + channel;
  uint64_t cycles = load(engine, address, is_last ? job->ki.last : g->channels_1x1);
  const bool is_over = walk->row + 1 == hi && walk->column + 1 == wi;
  /* What the formula has beyond one cycle per pixel: the rest of the array in 1x1 mode, slower beats. */
  if (is_over) cycles += beyond(engine, neureka_load_cycles(&engine->options, job, hi, wi), hi * wi);
  walk->cycle += cycles;
  walk->load_cycles += cycles;
  if (is_over) {
    if (job->prefetch && neureka_is_rtl(&engine->options)) finish_load_ahead(engine);
    else finish_load(engine);
  } else if (++walk->column == wi) {
    walk->column = 0;
    walk->row++;
  }
}

/* Weights in L1: no prefetch there. */
static void load_weights(struct neureka_engine *engine) {
  const struct array_job *job = &engine->job;
  const uint32_t beat = engine->options.geometry.weight_beat_bytes;
  struct neureka_walk *walk = &engine->walk;
  const bool depthwise = job->mode == ARRAY_DEPTHWISE;
  const uint32_t planes = job->mode == ARRAY_1X1 ? 1 : job->weight_bits;
  const uint32_t channels = depthwise ? 1 : channels_out(engine);
  const uint32_t before = depthwise ? walk->step.ko : walk->step.ko * job->ko.full * job->ki.count + walk->step.ki;
  const uint32_t address =
      job->at.weights + before * planes * beat + walk->row * job->at.weights_d1 + walk->beat * job->at.weights_d0;
  walk->cycle += load(engine, address, beat);
  if (++walk->beat < planes) return;
  walk->beat = 0;
  if (++walk->row < channels) return;
  walk->cycle += beyond(engine, walk->phases.weights, channels * planes);
  finish_weights(engine);
}

static void finish_frame(struct neureka_engine *engine) {
  const struct array_job *job = &engine->job;
  if (!job->norm_quant) enter(&engine->walk, NEUREKA_STREAM_OUT, 0);
  else enter(&engine->walk, job->shift_vector ? NEUREKA_SHIFT : NEUREKA_SCALE, 0);
}

static void load_shifts(struct neureka_engine *engine) {
  const struct array_job *job = &engine->job;
  const uint64_t cycles =
      load(engine, job->at.shifts + engine->walk.step.ko * job->ko.full, engine->options.geometry.output_channels);
  enter(&engine->walk, NEUREKA_SCALE, cycles + engine->walk.phases.shift);
}

/* Nine cycles behind the scales, eight behind the biases. */
static void load_scales(struct neureka_engine *engine) {
  const struct array_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  walk->cycle += load(engine, job->at.scale + walk->step.ko * job->ko.full * job->scale_bytes + 4 * walk->beat, 4);
  if (++walk->beat == walk->phases.scale_beats) enter(walk, job->bias ? NEUREKA_BIAS : NEUREKA_STREAM_OUT, walk->phases.scale);
}

static void load_biases(struct neureka_engine *engine) {
  const struct array_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  walk->cycle += load(engine, job->at.biases + walk->step.ko * job->ko.full * 4 + 32 * walk->beat, 32);
  if (++walk->beat == walk->phases.bias_beats) enter(walk, NEUREKA_STREAM_OUT, walk->phases.bias);
}

/* True behind the last subtile of the job. */
static bool next_subtile(struct neureka_engine *engine) {
  struct neureka_walk *walk = &engine->walk;
  const uint32_t ko = walk->step.ko;
  if (!next_step(&engine->job, &walk->step)) return true;
  if (walk->step.ko != ko) walk->compute_cycles = 0;
  enter_subtile(engine, 0);
  return false;
}

/* The array is scanned up to its last active element; what lies outside the output costs a cycle and no access. */
static bool stream_out(struct neureka_engine *engine) {
  const struct array_job *job = &engine->job;
  struct neureka_walk *walk = &engine->walk;
  const uint32_t ho = array_dimension_size(&job->ho, walk->step.ho), wo = array_dimension_size(&job->wo, walk->step.wo);
  const uint32_t channels = channels_out(engine);
  const uint32_t beats = job->output_bytes == 1 ? 1 : word_beats(channels);
  const uint32_t bytes = job->output_bytes == 1 ? channels : beat_bytes(engine, channels);
  walk->cycle += walk->column < wo ? store(engine, pixel_out(engine, job->output_bytes), bytes) : 1;
  if (++walk->beat < beats) return false;
  walk->beat = 0;
  if (walk->row + 1 == ho && walk->column + 1 == wo) {
    walk->cycle += walk->phases.output;
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
