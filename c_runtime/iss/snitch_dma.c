/* SPDX-License-Identifier: Apache-2.0
 *
 * Xdma: transfers of rows, in order, one beat of 64 bytes per cycle. A beat takes all banks of a superbank and always
 * wins, so the times of a transfer are known when it is commanded. Its bytes move when it is complete. */
#include <string.h>

#include "memory.h"
#include "snitch.h"

enum { BEAT = 64, FIRST_ID = 2, QUEUE = 8, TWO_DIMENSIONS = 2 };

void snitch_dma_create(struct platform *platform) {
  struct snitch_dma *dma = &platform->snitch->dma;
  dma->next_id = FIRST_ID;
  dma->completed = FIRST_ID - 1;
  dma->rows = 1;
}

static struct snitch_transfer *at(const struct snitch_dma *dma, uint32_t number) {
  return (struct snitch_transfer *)&dma->transfer[(dma->first + number) % SNITCH_TRANSFERS];
}

static uint32_t beats_of(uint64_t address, uint32_t bytes) { return (uint32_t)((address % BEAT + bytes + BEAT - 1) / BEAT); }

static int is_in_l1(const struct platform *platform, uint64_t address, uint32_t *offset) {
  *offset = (uint32_t)address - (uint32_t)platform->config.memory_l1_base;
  return address >> 32 == 0 && *offset < platform->config.memory_l1_size;
}

/* Rows that lie in different places: without strides all are the same. */
static uint32_t rows_apart(const struct snitch_transfer *made) {
  return made->source_stride || made->target_stride ? made->rows : 1;
}

static int is_inside(struct platform *platform, const struct snitch_transfer *made) {
  for (uint32_t row = 0; row < rows_apart(made); row++) {
    uint64_t source = made->source + (uint64_t)row * made->source_stride;
    uint64_t target = made->target + (uint64_t)row * made->target_stride;
    if (source >> 32 || target >> 32 || !memory_at(platform, (uint32_t)source, made->bytes, 0) ||
        !memory_at(platform, (uint32_t)target, made->bytes, 1))
      return 0;
  }
  return 1;
}

/* Jobs of an accelerator that a transfer disturbs, at its start or at its end. */
static void check_races(struct platform *platform, const struct snitch_transfer *made, uint64_t cycle) {
  uint32_t offset;
  if (!platform->peripherals.l1_claims) return;
  for (uint32_t row = 0; row < rows_apart(made); row++) {
    if (is_in_l1(platform, made->source + (uint64_t)row * made->source_stride, &offset))
      check_race(platform, -1, TVM_PULP_PORT_L1, offset, made->bytes, 0, cycle);
    if (is_in_l1(platform, made->target + (uint64_t)row * made->target_stride, &offset))
      check_race(platform, -1, TVM_PULP_PORT_L1, offset, made->bytes, 1, cycle);
  }
}

/* When each beat moves. Reading from outside takes its latency once. */
static void set_times(struct platform *platform, struct snitch_transfer *made, uint64_t cycle) {
  const struct config *config = &platform->config;
  const struct snitch_dma *dma = &platform->snitch->dma;
  uint32_t source = beats_of(made->source, made->bytes), target = beats_of(made->target, made->bytes), offset;
  uint64_t row;
  made->beats = source > target ? source : target;
  row = made->beats + (made->rows > 1 ? (uint64_t)config->scoreboard_dma_row : 0);
  made->start = cycle + (uint64_t)config->dma_startup;
  if (!is_in_l1(platform, made->source, &offset)) made->start += (uint64_t)config->dma_l2_read_latency;
  if (made->start < dma->busy_until + (uint64_t)config->scoreboard_dma_next)
    made->start = dma->busy_until + (uint64_t)config->scoreboard_dma_next;
  made->end = made->start + row * made->rows;
}

uint64_t snitch_dma_start(struct hart *hart, uint32_t bytes, uint32_t configuration, uint64_t cycle, uint32_t *id) {
  struct platform *platform = hart->platform;
  struct snitch_dma *dma = &platform->snitch->dma;
  struct snitch_transfer *made = at(dma, dma->count);
  int is_two_dimensional = (configuration & TWO_DIMENSIONS) != 0;
  uint64_t room = dma->recent[dma->newest % QUEUE];
  if (cycle < room) cycle = room; /* the queue is full until then */
  made->id = dma->next_id;
  made->bytes = bytes;
  made->rows = is_two_dimensional ? dma->rows : 1;
  made->source = dma->source;
  made->target = dma->target;
  made->source_stride = is_two_dimensional ? dma->source_stride : 0;
  made->target_stride = is_two_dimensional ? dma->target_stride : 0;
  if (!bytes || !made->rows) {
    platform_fault(platform, FAULT_PERIPHERAL, hart, 0, "a DMA transfer of no bytes: skip it");
    return 0;
  }
  if (!is_inside(platform, made)) {
    platform_fault(platform, FAULT_ACCESS, hart, (uint32_t)made->source,
                   "DMA transfer of %u row(s) of %u byte(s) from 0x%llx to 0x%llx leaves the memories",
                   (unsigned)made->rows, (unsigned)bytes, (unsigned long long)made->source,
                   (unsigned long long)made->target);
    return 0;
  }
  set_times(platform, made, cycle);
  check_races(platform, made, made->start);
  dma->recent[dma->newest++ % QUEUE] = made->start;
  dma->busy_until = made->end;
  dma->count++;
  if (++dma->next_id == 0) dma->next_id = 1;
  *id = made->id;
  return cycle;
}

uint32_t snitch_dma_status(const struct platform *platform, uint32_t number, uint64_t cycle) {
  const struct snitch_dma *dma = &platform->snitch->dma;
  switch (number) {
    case 0: return dma->completed;
    case 1: return dma->next_id;
    case 2: return dma->count != 0;
    case 3: return cycle < dma->recent[dma->newest % QUEUE];
    default: return 0;
  }
}

static void finish(struct platform *platform, struct snitch_transfer *made, uint64_t cycle) {
  struct snitch_dma *dma = &platform->snitch->dma;
  uint32_t offset, inward = (uint32_t)is_in_l1(platform, made->target, &offset);
  uint64_t bytes = (uint64_t)made->rows * made->bytes;
  check_races(platform, made, cycle);
  for (uint32_t row = 0; row < rows_apart(made); row++)
    dma_copy(platform, (uint32_t)made->target + row * made->target_stride,
             (uint32_t)made->source + row * made->source_stride, made->bytes, cycle);
  dma->bursts += made->rows;
  dma->beats += (uint64_t)made->rows * made->beats;
  dma->bytes += bytes;
  platform->dma.bytes[inward] += bytes;
  dma_count(platform, inward, made->start, made->end, bytes);
  dma->completed = made->id;
}

void snitch_dma_advance(struct platform *platform, uint64_t cycle) {
  struct snitch_dma *dma = &platform->snitch->dma;
  while (dma->count && at(dma, 0)->end <= cycle) {
    finish(platform, at(dma, 0), cycle);
    dma->first = (dma->first + 1) % SNITCH_TRANSFERS;
    dma->count--;
  }
}

uint64_t snitch_dma_next(const struct platform *platform) {
  const struct snitch_dma *dma = &platform->snitch->dma;
  return dma->count ? at(dma, 0)->end : NEVER;
}

/* Whether a side of a transfer has a beat on the superbank in a cycle. */
static int hits(const struct platform *platform, const struct snitch_transfer *made, uint64_t address, uint32_t stride,
                uint32_t superbank, uint64_t cycle) {
  uint64_t row_cycles = (made->end - made->start) / made->rows, row = (cycle - made->start) / row_cycles;
  uint64_t beat = (cycle - made->start) % row_cycles;
  uint32_t offset;
  if (!is_in_l1(platform, address, &offset) || beat >= made->beats) return 0;
  return ((offset + (uint32_t)row * stride) / BEAT + (uint32_t)beat) % SNITCH_SUPERBANKS == superbank;
}

uint64_t snitch_dma_avoid(const struct platform *platform, uint32_t superbank, uint64_t cycle) {
  const struct snitch_dma *dma = &platform->snitch->dma;
  for (uint32_t i = 0; i < dma->count; i++) {
    const struct snitch_transfer *made = at(dma, i);
    while (made->start <= cycle && cycle < made->end && cycle <= platform->max_cycle &&
           (hits(platform, made, made->source, made->source_stride, superbank, cycle) ||
            hits(platform, made, made->target, made->target_stride, superbank, cycle)))
      cycle++;
  }
  return cycle;
}
