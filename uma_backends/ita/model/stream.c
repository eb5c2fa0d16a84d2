/* SPDX-License-Identifier: Apache-2.0
 *
 * When a job ends: its beats, cycle by cycle.
 *
 * Four streams (input, weights, bias, output) take turns at one port of a beat per cycle; a beat waits until all banks
 * of L1 that it needs are free. Reads arrive a few cycles later in FIFOs. A row of the input is accepted per cycle once a
 * block of weights is complete and the bias has arrived; its results leave the pipeline some cycles later and pair into
 * beats. At most twelve results are outstanding.
 *
 * The constants below are fitted: they give the cycles of the public RTL for every kind of job on a memory without
 * contention (a job that writes 306, one that does not 271), and its slowdown where grants are denied at random. */
#include "engine.h"

enum { READ_FIFO_BEATS = 10, WRITE_FIFO_BEATS = 5, OUTSTANDING_ROWS = 12 };
/* Cycles from a grant to the engine's side of the FIFO, through the array, and from a pair of rows to its request. */
enum { LATENCY = ITA_READ_LATENCY, PIPELINE = 10, PAIR = 1 };
enum { ROWS = ITA_TILE * ITA_BLOCKS, INPUT_BEATS = ROWS / 2, TILE_BEATS = ITA_TILE_BYTES / ITA_BEAT_BYTES };
enum { BLOCK_BEATS = ITA_BLOCK_BYTES / ITA_BEAT_BYTES };
/* Cycles from the start to the first request of each reader, and from the last beat to the end, where it was written
 * WRITE_END more. */
static const uint8_t START[ITA_REQUESTERS] = {[ITA_INPUT] = 0, [ITA_WEIGHT] = 5, [ITA_BIAS] = 4};
enum { END = 1, WRITE_END = 7 };

void ita_stream_start(struct ita_engine *engine, uint64_t cycle) {
  const struct ita_job *job = &engine->job;
  struct ita_stream *s = &engine->stream;
  *s = (struct ita_stream){.start = cycle, .cycle = cycle, .last_granted = ITA_OUTPUT};
  s->first_weights = (job->preload ? ITA_BLOCKS : ITA_BLOCKS - 1) * BLOCK_BEATS;
  s->loaded = TILE_BEATS - s->first_weights;
  s->total[ITA_INPUT] = INPUT_BEATS;
  s->total[ITA_WEIGHT] = s->first_weights + (job->nextload ? BLOCK_BEATS : 0);
  s->total[ITA_BIAS] = job->has_bias ? 2 : 0;
  s->total[ITA_OUTPUT] = job->has_output ? INPUT_BEATS : 0;
}

/* Beats that wait in a read FIFO for the engine. */
static uint32_t waiting(const struct ita_stream *s, enum ita_requester r) {
  switch (r) {
    case ITA_INPUT: return s->arrived[r] - s->rows / 2;
    case ITA_WEIGHT: return s->arrived[r] - (s->loaded - (TILE_BEATS - s->first_weights));
    default: return 0;
  }
}

static bool wants(const struct ita_stream *s, enum ita_requester r) {
  if (s->granted[r] == s->total[r]) return false;
  if (r == ITA_OUTPUT) return s->ready > s->granted[r];
  if (s->cycle < s->start + START[r]) return false;
  /* The streamer of weights begins anew for the next job's block. */
  if (r == ITA_WEIGHT && s->granted[r] == s->first_weights && s->arrived[r] < s->first_weights) return false;
  return waiting(s, r) + s->granted[r] - s->arrived[r] < READ_FIFO_BEATS;
}

static uint32_t beat_address(const struct ita_engine *engine, enum ita_requester r) {
  const struct ita_job *job = &engine->job;
  const struct ita_stream *s = &engine->stream;
  const uint32_t beat = s->granted[r];
  switch (r) {
    case ITA_INPUT: return job->input + ITA_BEAT_BYTES * (beat % TILE_BEATS);
    case ITA_WEIGHT:
      if (beat >= s->first_weights) return job->next_weights + ITA_BEAT_BYTES * (beat - s->first_weights);
      return job->weights + (job->preload ? 0 : ITA_BLOCK_BYTES) + ITA_BEAT_BYTES * beat;
    case ITA_BIAS: return job->bias + ITA_BIAS_BYTES / 2 * beat;
    default: return job->output + ITA_BEAT_BYTES * (beat % TILE_BEATS) + ITA_LANES * (beat / TILE_BEATS);
  }
}

/* One beat for the first stream behind the last one served that wants it. A beat that waits for its banks keeps the
 * port. */
static void grant(struct ita_engine *engine) {
  struct ita_stream *s = &engine->stream;
  if (s->cycle < s->port_free) return;
  for (uint32_t i = 1; i <= ITA_REQUESTERS; i++) {
    const enum ita_requester r = (enum ita_requester)((s->last_granted + i) % ITA_REQUESTERS);
    if (!wants(s, r)) continue;
    const struct tvm_pulp_system *system = &engine->queue.system;
    const uint32_t address = beat_address(engine, r);
    const uint64_t late =
        system->take_banks ? system->take_banks(system->context, address, ITA_BEAT_BYTES, s->cycle) : 0;
    /* Turning to the next job's block costs the port a cycle. */
    const bool is_turn = r == ITA_WEIGHT && s->granted[r] == s->first_weights;
    s->granted[r]++;
    s->last_granted = r;
    s->port_free = s->cycle + late + (is_turn ? 2 : 1);
    if (r == ITA_OUTPUT) return;
    s->flight[s->in_flight].cycle = s->cycle + late + LATENCY;
    s->flight[s->in_flight++].requester = r;
    return;
  }
}

static void arrive(struct ita_stream *s) {
  if (s->in_flight == 0 || s->flight[0].cycle > s->cycle) return;
  s->arrived[s->flight[0].requester]++;
  s->in_flight--;
  for (uint32_t i = 0; i < s->in_flight; i++) s->flight[i] = s->flight[i + 1];
}

/* From the FIFO into the half of the double buffer that is free. */
static void load_weights(struct ita_stream *s) {
  if (waiting(s, ITA_WEIGHT) > 0 && s->loaded / BLOCK_BEATS <= s->rows / ITA_TILE + 1) s->loaded++;
}

static void accept_row(struct ita_stream *s) {
  const bool is_ready = s->rows < ROWS && s->loaded / BLOCK_BEATS > s->rows / ITA_TILE &&
                        s->arrived[ITA_BIAS] == s->total[ITA_BIAS] && 2 * s->arrived[ITA_INPUT] > s->rows &&
                        (s->total[ITA_OUTPUT] == 0 || s->rows - s->paired < OUTSTANDING_ROWS);
  if (is_ready) s->rows++;
  s->pipeline = s->pipeline << 1 | (is_ready ? 1u : 0u);
  s->finished += s->pipeline >> PIPELINE & 1u;
}

static void pair_results(struct ita_stream *s) {
  const bool moves = s->paired < s->finished && s->paired / 2 - s->granted[ITA_OUTPUT] < WRITE_FIFO_BEATS;
  if (moves) s->paired++;
  s->pairs = s->pairs << 1 | (moves && s->paired % 2 == 0 ? 1u : 0u);
  s->ready += s->pairs >> PAIR & 1u;
}

static bool is_over(const struct ita_stream *s) {
  for (uint32_t r = 0; r < ITA_REQUESTERS; r++)
    if (s->granted[r] != s->total[r]) return false;
  return s->in_flight == 0 && s->rows == ROWS;
}

bool ita_stream_step(struct ita_engine *engine) {
  struct ita_stream *s = &engine->stream;
  pair_results(s);
  accept_row(s);
  load_weights(s);
  arrive(s);
  grant(engine);
  s->cycle++;
  if (!is_over(s)) return false;
  s->cycle += s->total[ITA_OUTPUT] > 0 ? END + WRITE_END : END;
  return true;
}
