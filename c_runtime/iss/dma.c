/* SPDX-License-Identifier: Apache-2.0
 *
 * With L1 conflicts modelled a transfer advances beat by beat (two words per cycle and direction) and each word needs
 * its bank; without, it advances burst by burst. Data moves when its beat or burst is over. */
#include "dma.h"

#include <string.h>

#include "memory.h"

enum { TO_L1 = 1 << 17, INCREMENT = 1 << 18, TWO_D = 1 << 19, EVENT = 1 << 20, IRQ = 1 << 21, BROADCAST = 1 << 22,
       TWO_D_L1 = 1 << 23, LENGTH_MASK = 0x1ffff, L1_MASK = 0xfffff };

static void release_blocked(struct platform *platform, uint64_t cycle) {
  uint32_t harts = platform->dma.blocked;
  platform->dma.blocked = 0;
  for (; harts; harts &= harts - 1) hart_wake(&platform->harts[__builtin_ctz(harts)], cycle);
}

static int block(struct hart *hart) {
  hart->platform->dma.blocked |= 1u << hart->index;
  hart_block(hart);
  return ACCESS_BLOCKED;
}

static void update_cycle(struct dma *dma) {
  uint64_t a = dma->engine[0].active ? dma->engine[0].cycle : NEVER;
  uint64_t b = dma->engine[1].active ? dma->engine[1].cycle : NEVER;
  dma->cycle = a < b ? a : b;
}

/* Bytes of the next piece: it crosses neither a line, nor a burst, nor the end. */
static uint32_t piece_bytes(const struct platform *platform, const struct dma_engine *engine, uint32_t most) {
  uint32_t in_line = engine->done % engine->line;
  uint32_t bytes = engine->length - engine->done;
  uint32_t burst = (uint32_t)platform->config.dma_burst_bytes;
  if (bytes > engine->line - in_line) bytes = engine->line - in_line;
  if (bytes > burst - in_line % burst) bytes = burst - in_line % burst;
  return bytes < most ? bytes : most;
}

static uint32_t whole_piece(const struct platform *platform, const struct dma_engine *engine) {
  return piece_bytes(platform, engine, (uint32_t)(platform->config.l1_conflicts
                                                      ? platform->config.dma_bytes_per_cycle
                                                      : platform->config.dma_burst_bytes));
}

/* A burst from L1 costs one cycle more: its address phase is not hidden. */
static uint64_t burst_start_cycles(const struct platform *platform, const struct dma_engine *engine) {
  uint32_t in_line = engine->done % engine->line;
  int to_l1 = (engine->command.words[0] & TO_L1) != 0;
  if (to_l1 || in_line % (uint32_t)platform->config.dma_burst_bytes) return 0;
  return (uint64_t)platform->config.dma_write_burst_cycles;
}

/* Cycle at which the piece that starts at `cycle` is over. */
static uint64_t piece_end(const struct platform *platform, const struct dma_engine *engine, uint64_t cycle) {
  uint32_t beat = (uint32_t)platform->config.dma_bytes_per_cycle;
  return cycle + (whole_piece(platform, engine) + beat - 1) / beat + burst_start_cycles(platform, engine);
}

static void start_next(struct platform *platform, uint32_t direction) {
  struct dma *dma = &platform->dma;
  struct dma_engine *engine = &dma->engine[direction];
  const struct config *config = &platform->config;
  uint64_t start;
  if (engine->active || !dma->queued[direction]) return;
  engine->command = dma->queue[direction][0];
  dma->queued[direction]--;
  memmove(dma->queue[direction], dma->queue[direction] + 1, dma->queued[direction] * sizeof dma->queue[direction][0]);
  engine->active = 1;
  engine->done = 0;
  engine->granted = 0;
  engine->length = engine->command.words[0] & LENGTH_MASK;
  engine->line = engine->command.words[0] & TWO_D ? engine->command.words[3] : engine->length;
  engine->stride = engine->command.words[0] & TWO_D ? engine->command.words[4] : 0;
  start = engine->command.issued + (uint64_t)config->dma_startup_cycles;
  if (engine->length <= config->dma_short_bytes)
    start -= (uint64_t)(config->dma_short_credit < config->dma_startup_cycles ? config->dma_short_credit
                                                                            : config->dma_startup_cycles);
  if (direction == 1) start += (uint64_t)config->dma_l2_read_latency;
  if (start < engine->free_at) start = engine->free_at;
  engine->started = start;
  engine->cycle = engine->length ? piece_end(platform, engine, start) : start;
  update_cycle(dma);
}

static void finish(struct platform *platform, uint32_t direction, uint64_t cycle) {
  struct dma *dma = &platform->dma;
  struct dma_engine *engine = &dma->engine[direction];
  struct dma_counter *counter = &dma->counter[engine->command.counter];
  uint32_t flags = engine->command.words[0], port = engine->command.port;
  uint32_t cores = flags & BROADCAST ? ~0u : port < MAX_CORES ? 1u << port : 0;
  engine->active = 0;
  engine->free_at = cycle;
  dma->busy_cycles[direction] += cycle - engine->started;
  dma->transfers++;
  dma->port[port].queued--;
  trace_span(&platform->trace, TRACE_DMA, direction, engine->started, cycle, engine->length);
  if (--counter->transfers == 0) {
    if (flags & EVENT) event_raise(platform, cores, EVENT_DMA, cycle);
    if (flags & IRQ) event_raise(platform, cores, EVENT_DMA_IRQ, cycle);
  }
  start_next(platform, direction);
  release_blocked(platform, cycle);
}

/* Each word of the beat needs its bank; words that lose try again in the next cycle. True when all are through. */
static int take_banks(struct platform *platform, struct dma_engine *engine, uint32_t l1, uint32_t bytes, uint64_t cycle) {
  uint32_t mask = (uint32_t)platform->config.l1_banks - 1;
  uint32_t first = l1 / 4, last = (l1 + bytes - 1) / 4, all = (2u << (last - first)) - 1;
  for (uint32_t word = first; word <= last; word++) {
    uint64_t *bank = &platform->l1_bank_free[word & mask];
    if ((engine->granted >> (word - first) & 1) || *bank > cycle) continue;
    *bank = cycle + 1;
    engine->granted |= 1u << (word - first);
  }
  if (engine->granted != all) return 0;
  engine->granted = 0;
  return 1;
}

static void step(struct platform *platform, uint32_t direction) {
  struct dma *dma = &platform->dma;
  struct dma_engine *engine = &dma->engine[direction];
  uint32_t bytes = engine->length ? whole_piece(platform, engine) : 0;
  uint32_t l1 = (engine->command.words[1] & L1_MASK) + engine->done;
  uint32_t external = engine->command.words[2];
  uint64_t cycle = engine->cycle;
  if (bytes) {
    uint8_t *outside, *inside = platform->l1 + l1;
    external += engine->done / engine->line * engine->stride + engine->done % engine->line;
    outside = memory_pointer(platform, external, bytes);
    if (!outside || (uint64_t)l1 + bytes > (uint64_t)platform->config.l1_size) {
      engine->active = 0;
      platform_fault(platform, FAULT_ACCESS, NULL, outside ? l1 : external,
                     "DMA transfer of core %u (command 0x%08x 0x%08x 0x%08x) leaves the memories",
                     (unsigned)engine->command.port, (unsigned)engine->command.words[0],
                     (unsigned)engine->command.words[1], (unsigned)engine->command.words[2]);
      return;
    }
    if (platform->config.l1_conflicts && !take_banks(platform, engine, l1, bytes, cycle - 1)) {
      dma->conflict_cycles++;
      engine->cycle = cycle + 1;
      return;
    }
    if (platform->peripherals.claim_count) {
      uint64_t weight = external - (uint32_t)platform->config.weight_base;
      check_race(platform, -1, TVM_PULP_PORT_L1, l1, bytes, direction == 1, cycle);
      if (weight < (uint64_t)platform->config.weight_size)
        check_race(platform, -1, TVM_PULP_PORT_WEIGHT, (uint32_t)weight, bytes, direction == 0, cycle);
    }
    if (direction == 1) memmove(inside, outside, bytes);
    else memmove(outside, inside, bytes);
    engine->done += bytes;
    dma->bytes[direction] += bytes;
  }
  if (engine->done == engine->length) finish(platform, direction, cycle);
  else engine->cycle = piece_end(platform, engine, cycle);
}

void dma_advance(struct platform *platform, uint64_t cycle) {
  struct dma *dma = &platform->dma;
  while (dma->cycle <= cycle && platform->state == RUN_GOING) {
    step(platform, dma->engine[0].active && dma->engine[0].cycle == dma->cycle ? 0 : 1);
    update_cycle(dma);
  }
}

/* Why a command cannot run, or NULL. */
static const char *check_command(const struct dma_port *port) {
  if (port->counter >= DMA_COUNTERS) return "DMA command without an allocated counter: read the CMD register first";
  if (!(port->words[0] & INCREMENT)) return "DMA command with the increment bit (18) clear is not modelled";
  if (port->words[0] & TWO_D_L1) return "DMA command that is two-dimensional on the L1 side is not modelled";
  if ((port->words[0] & TWO_D) && port->words[3] == 0) return "two-dimensional DMA command with a line of 0 bytes";
  return NULL;
}

int dma_read(struct hart *hart, uint32_t port, uint32_t offset, uint64_t cycle, uint32_t *value) {
  struct dma *dma = &hart->platform->dma;
  (void)cycle;
  if (offset == 4) {
    for (uint32_t i = 0; i < DMA_COUNTERS; i++) {
      if (dma->counter[i].transfers) *value |= 1u << i;
      if (dma->counter[i].allocated) *value |= 0x10000u << i;
    }
    return ACCESS_OK;
  }
  if (offset != 0) return ACCESS_NOWHERE;
  for (uint32_t i = 0; i < (uint32_t)hart->platform->config.dma_counters; i++) {
    if (dma->counter[i].allocated) continue;
    dma->counter[i].allocated = 1;
    dma->port[port].counter = i;
    *value = i;
    return ACCESS_OK;
  }
  return block(hart);
}

int dma_write(struct hart *hart, uint32_t port_number, uint32_t offset, uint64_t cycle, uint32_t value) {
  struct platform *platform = hart->platform;
  struct dma *dma = &platform->dma;
  struct dma_port *port = &dma->port[port_number];
  uint32_t needed, direction;
  const char *problem;
  if (offset == 4) {
    for (uint32_t i = 0; i < DMA_COUNTERS; i++)
      if (value >> i & 1) dma->counter[i].allocated = 0;
    release_blocked(platform, cycle + 1);
    return ACCESS_OK;
  }
  if (offset != 0) return ACCESS_NOWHERE;
  port->words[port->word_count] = value;
  needed = port->words[0] & TWO_D ? 5 : 3;
  if (port->word_count + 1 < needed) {
    port->word_count++;
    return ACCESS_OK;
  }
  problem = check_command(port);
  if (problem) {
    platform_fault(platform, FAULT_PERIPHERAL, hart, 0, "%s", problem);
    return ACCESS_STOP;
  }
  if (port->queued >= platform->config.dma_core_queue ||
      dma->queued[0] + dma->queued[1] >= (uint32_t)platform->config.dma_global_queue)
    return block(hart); /* the last word is written again when a command has finished */
  direction = port->words[0] & TO_L1 ? 1 : 0;
  struct dma_command *command = &dma->queue[direction][dma->queued[direction]++];
  memcpy(command->words, port->words, sizeof command->words);
  command->port = port_number;
  command->counter = port->counter;
  command->issued = cycle;
  dma->counter[port->counter].transfers++;
  port->queued++;
  port->word_count = 0;
  start_next(platform, direction);
  return ACCESS_OK;
}
