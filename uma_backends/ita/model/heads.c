/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers and time of the engines that run whole heads. */
#include "heads.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { STATE, START_ADDR, OUT_ADDR, RQS_ADDR, SIZE_S, SIZE_E, SIZE_P };
enum { START = 1, BUSY = 2, DONE = 4, ITERATIONS = 0xe0, MULTIPLE = 16, TILE = 64, TILE_CYCLES = 256, LARGEST = 4096 };
enum { TABLE_ENTRIES = 6, LARGEST_SHIFT = 31 };

__attribute__((format(printf, 2, 3))) static bool fault(struct heads *heads, const char *format, ...) {
  char reason[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  heads->has_faulted = true;
  heads->system.fault(heads->system.context, reason);
  return false;
}

/* L1, or else L2: addresses are those of the cores. */
static uint8_t *memory(const struct heads *heads, uint32_t address, uint32_t bytes) {
  const struct tvm_pulp_system *system = &heads->system;
  uint8_t *found = system->memory(system->context, TVM_PULP_PORT_L1, address, bytes);
  return found != NULL ? found : system->memory(system->context, TVM_PULP_PORT_L2, address, bytes);
}

static bool claim(struct heads *heads, const char *what, uint32_t address, uint32_t bytes, bool is_write, uint64_t end) {
  if (memory(heads, address, bytes) == NULL)
    return fault(heads, "ITA %s at 0x%08x with %u bytes is in no memory", what, address, bytes);
  heads->system.claim(heads->system.context, TVM_PULP_PORT_L1, address, bytes, is_write, end);
  return true;
}

static bool read_rules(struct heads *heads, struct heads_job *job, uint32_t address) {
  uint32_t pointers[3];
  const uint8_t *table = memory(heads, address, sizeof pointers);
  if (table == NULL) return fault(heads, "ITA RQS_ADDR 0x%08x is in no memory", address);
  memcpy(pointers, table, sizeof pointers);
  const uint8_t *multipliers = memory(heads, pointers[0], TABLE_ENTRIES), *shifts = memory(heads, pointers[1], TABLE_ENTRIES);
  const uint8_t *adds = memory(heads, pointers[2], 4 * TABLE_ENTRIES);
  if (multipliers == NULL || shifts == NULL || adds == NULL)
    return fault(heads, "ITA tables of requantization at 0x%08x, 0x%08x, 0x%08x are in no memory", pointers[0], pointers[1],
                 pointers[2]);
  for (uint32_t i = 0; i < TABLE_ENTRIES; i++) {
    if (shifts[i] > LARGEST_SHIFT) return fault(heads, "ITA shift %u is above %u", shifts[i], LARGEST_SHIFT);
    job->rules[i] = (struct heads_requant){.multiplier = multipliers[i], .shift = shifts[i]};
    memcpy(&job->rules[i].add, adds + 4 * i, 4);
  }
  job->rules[TABLE_ENTRIES - 1].add = (int8_t)job->rules[TABLE_ENTRIES - 1].add; /* the output's has eight bits */
  return true;
}

static uint64_t tiles(uint32_t extent) { return (extent + TILE - 1) / TILE; }

/* Cycles of a head behind its start. */
static uint64_t works(const struct heads *heads, const struct heads_job *job) {
  const uint64_t s = tiles(job->s), e = tiles(job->e), p = tiles(job->p), width = heads->options.fetch_bytes;
  const uint64_t computes = TILE_CYCLES * (4 * s * e * p + 2 * s * s * p);
  const uint64_t fetches = (head_bytes(job->s, job->e, job->p) + width - 1) / width;
  return computes > fetches ? computes : fetches;
}

/* Address of a beat: operands in their order, q and k where engine 0 has them, then the output. */
static uint32_t address_of(const struct heads *heads, const struct heads_job *job, uint32_t beat) {
  const uint32_t bytes = head_bytes(job->s, job->e, job->p), pe = job->p * job->e, se = job->s * job->e;
  const uint32_t at = beat * heads->options.fetch_bytes;
  if (at >= bytes) return job->out + (at - bytes);
  return at >= 3 * pe && at < 3 * pe + 2 * se ? job->positions + (at - 3 * pe) : job->blob + at;
}

static uint32_t beats_of(const struct heads *heads, const struct heads_job *job) {
  const uint32_t width = heads->options.fetch_bytes;
  return (head_bytes(job->s, job->e, job->p) + job->s * job->e + width - 1) / width;
}

static uint64_t time_of(const struct heads *heads, const struct heads_job *job) {
  return job->begin + job->late + job->works * job->beat / beats_of(heads, job);
}

static bool in_l1(const struct heads *heads, uint32_t address) {
  const struct tvm_pulp_system *system = &heads->system;
  return system->memory(system->context, TVM_PULP_PORT_L1, address, heads->options.fetch_bytes) != NULL;
}

/* On to the next beat in L1; behind the last one where nobody contends. */
static void skip_beats(const struct heads *heads, struct heads_job *job) {
  const uint32_t beats = beats_of(heads, job);
  if (heads->system.take_banks == NULL) job->beat = beats;
  while (job->beat < beats && !in_l1(heads, address_of(heads, job, job->beat))) job->beat++;
}

static void take_beat(struct heads *heads, struct heads_job *job) {
  const uint64_t late = heads->system.take_banks(heads->system.context, address_of(heads, job, job->beat),
                                                 heads->options.fetch_bytes, time_of(heads, job));
  job->late += late;
  job->end += late;
  job->beat++;
  skip_beats(heads, job);
}

static bool claim_operands(struct heads *heads, struct heads_job *job) {
  const uint32_t se = job->s * job->e;
  job->claimed_until = job->end;
  return claim(heads, "operands", job->blob, head_bytes(job->s, job->e, job->p), false, job->end) &&
         claim(heads, "q and k", job->positions, 2 * se, false, job->end) &&
         claim(heads, "output", job->out, se, true, job->end);
}

static bool is_extent(uint32_t extent) { return extent > 0 && extent <= LARGEST && extent % MULTIPLE == 0; }

static void start(struct heads *heads, uint32_t number, uint64_t cycle) {
  const uint32_t *words = heads->words[number];
  struct heads_job *job = &heads->job[number];
  *job = (struct heads_job){.s = words[SIZE_S], .e = words[SIZE_E], .p = words[SIZE_P], .blob = words[START_ADDR],
                            .out = words[OUT_ADDR]};
  if (!is_extent(job->s) || !is_extent(job->e) || !is_extent(job->p)) {
    fault(heads, "ITA %u starts with S %u, E %u, P %u: multiples of %u up to %u are expected", number, job->s, job->e, job->p,
          MULTIPLE, LARGEST);
    return;
  }
  if (!read_rules(heads, job, words[RQS_ADDR])) return;
  job->positions = heads->words[0][START_ADDR] + 3 * job->p * job->e;
  job->begin = cycle + heads->options.start_cycles;
  job->works = works(heads, job);
  job->end = job->begin + job->works;
  if (!claim_operands(heads, job)) return;
  skip_beats(heads, job);
  if (heads_next_event(heads) == TVM_PULP_NEVER) heads->counted_to = cycle;
  heads->is_busy[number] = true;
}

static void finish(struct heads *heads, uint32_t number) {
  const struct heads_job *job = &heads->job[number];
  const uint32_t bytes = head_bytes(job->s, job->e, job->p), se = job->s * job->e;
  const struct head_operands operands = {
      .blob = memory(heads, job->blob, bytes),
      .positions = memory(heads, job->positions, 2 * se),
      .out = (int8_t *)memory(heads, job->out, se),
  };
  heads->is_busy[number] = false;
  heads->words[number][STATE] = (heads->words[number][STATE] & ~(uint32_t)BUSY) | DONE;
  if (!head_compute(job, operands)) fault(heads, "the host has no memory for a head of ITA %u", number);
  heads->statistics.jobs++;
  heads->statistics.busy_cycles += job->end - heads->counted_to;
  heads->counted_to = job->end;
  heads->statistics.macs += (uint64_t)job->s * job->p * (4 * job->e + 2 * job->s);
  heads->statistics.l1_bytes += bytes + se;
}

void heads_reset(struct heads *heads) {
  *heads = (struct heads){.system = heads->system, .options = heads->options};
}

/* Its next beat, or its end, or the end of what is claimed for it. */
static uint64_t next_of(const struct heads *heads, const struct heads_job *job) {
  const uint64_t next = job->beat < beats_of(heads, job) ? time_of(heads, job) : job->end;
  return next < job->claimed_until ? next : job->claimed_until;
}

uint64_t heads_next_event(const struct heads *heads) {
  uint64_t first = TVM_PULP_NEVER;
  for (uint32_t i = 0; i < heads->options.engines; i++) {
    if (!heads->is_busy[i]) continue;
    const uint64_t next = next_of(heads, &heads->job[i]);
    if (next < first) first = next;
  }
  return first;
}

void heads_advance(struct heads *heads, uint64_t cycle) {
  for (uint64_t next = heads_next_event(heads); next <= cycle && !heads->has_faulted; next = heads_next_event(heads)) {
    if (next == TVM_PULP_NEVER) return;
    for (uint32_t i = 0; i < heads->options.engines; i++) {
      struct heads_job *job = &heads->job[i];
      if (!heads->is_busy[i] || next_of(heads, job) != next) continue;
      if (job->beat < beats_of(heads, job) && time_of(heads, job) == next) take_beat(heads, job);
      else if (job->end == next) finish(heads, i);
      else if (!claim_operands(heads, job)) return;
    }
  }
}

/* Number of the register at an offset; false after a fault. */
static bool find(struct heads *heads, uint32_t offset, uint32_t *number, uint32_t *word) {
  *number = offset / HEADS_STRIDE;
  *word = offset % HEADS_STRIDE / 4;
  if (*number < heads->options.engines && *word < HEADS_WORDS && offset % 4 == 0) return true;
  return fault(heads, "ITA has no register at offset 0x%x", offset);
}

uint32_t heads_read(struct heads *heads, uint32_t offset, uint64_t cycle) {
  uint32_t number, word;
  if (heads->has_faulted || !find(heads, offset, &number, &word)) return 0;
  heads_advance(heads, cycle);
  return heads->words[number][word];
}

void heads_write(struct heads *heads, uint32_t offset, uint32_t value, uint64_t cycle) {
  uint32_t number, word;
  if (heads->has_faulted || !find(heads, offset, &number, &word)) return;
  heads_advance(heads, cycle);
  if (heads->is_busy[number]) {
    fault(heads, "register 0x%x of ITA %u was written while it works: wait for done", offset % HEADS_STRIDE, number);
    return;
  }
  heads->words[number][word] = value;
  if (word != STATE) return;
  if (value & ITERATIONS) fault(heads, "ITA %u is asked for more than one iteration, which is not modelled", number);
  else if (value & START) {
    heads->words[number][STATE] = (value & ~(uint32_t)(START | DONE)) | BUSY;
    start(heads, number, cycle);
  } else heads->words[number][STATE] = value & ~(uint32_t)(BUSY | DONE);
}
