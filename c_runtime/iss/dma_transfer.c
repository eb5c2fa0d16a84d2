/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens to a command in its direction. With L1 conflicts modelled every word takes the next free cycle of its
 * bank and keeps its port until then, as a core would; without, a burst moves as a whole when its last word does. */
#include <string.h>

#include "dma.h"
#include "memory.h"

static struct dma_command *at(struct dma_direction *way, uint32_t number) { return &way->command[number % DMA_QUEUE]; }

static struct dma_burst *first_burst(struct dma_direction *way) { return &way->burst[way->burst_first]; }

static uint64_t words_of(const struct dma_burst *burst) { return (burst->l1 % 4 + burst->bytes + 3) / 4; }

static uint32_t word_ports(const struct platform *platform) { return (uint32_t)platform->config.dma_bytes_per_cycle / 4; }

/* The command that is next to be asked for has left the queue, even where no burst of it could be asked for yet. */
int dma_is_full(const struct platform *platform, uint32_t direction) {
  const struct dma_direction *way = &platform->dma.direction[direction];
  return way->end - way->current > (uint32_t)platform->config.dma_global_queue || way->end - way->first >= DMA_QUEUE;
}

/* Data towards L1 is asked for ahead of its use; data from L1 is read when the burst before has left. */
static int may_request(const struct dma_direction *way, uint32_t direction) {
  if (way->current == way->end) return 0;
  return direction ? way->burst_count < DMA_BURSTS : way->burst_count == 0;
}

static void schedule_request(struct platform *platform, uint32_t direction, uint64_t cycle) {
  struct dma_direction *way = &platform->dma.direction[direction];
  if (way->request_cycle != NEVER || !may_request(way, direction)) return;
  way->request_cycle = cycle + (way->is_current ? 1 : (uint64_t)platform->config.dma_startup);
}

void dma_push(struct platform *platform, const struct dma_command *command, uint64_t cycle) {
  uint32_t direction = (command->words[0] & DMA_TO_L1) != 0;
  struct dma_direction *way = &platform->dma.direction[direction];
  *at(way, way->end++) = *command;
  schedule_request(platform, direction, cycle);
}

/* When the burst at the head moves next. */
static void schedule_move(struct platform *platform, uint32_t direction, uint64_t cycle) {
  struct dma_direction *way = &platform->dma.direction[direction];
  const struct dma_burst *burst = first_burst(way);
  uint32_t ports = word_ports(platform);
  uint64_t next = NEVER;
  if (way->burst_count && platform->config.memory_l1_conflicts) {
    for (uint32_t i = 0; i < ports; i++)
      if (way->port_ready[i] < next) next = way->port_ready[i];
    if (next < burst->available) next = burst->available;
    if (next <= cycle) next = cycle + 1;
  } else if (way->burst_count) {
    uint64_t words = words_of(burst), slot = burst->available * ports;
    if (slot < way->next_slot) slot = way->next_slot;
    way->next_slot = slot + words;
    next = (slot + words - 1) / ports;
  }
  way->move_cycle = next;
}

static int refuse(struct platform *platform, const struct dma_command *command, uint32_t address) {
  platform_fault(platform, FAULT_ACCESS, NULL, address,
                 "DMA transfer of core %u (command 0x%08x 0x%08x 0x%08x) leaves the memories", (unsigned)command->port,
                 (unsigned)command->words[0], (unsigned)command->words[1], (unsigned)command->words[2]);
  return 0;
}

/* Cut the next burst off a command; 0 after a fault. */
static int cut(struct platform *platform, struct dma_command *command, struct dma_burst *burst) {
  uint32_t in_line = command->requested % command->line, bytes = command->line - in_line;
  uint32_t most = (uint32_t)platform->config.dma_burst_bytes;
  if (bytes > command->length - command->requested) bytes = command->length - command->requested;
  if (bytes > most) bytes = most;
  burst->bytes = bytes;
  burst->done = 0;
  burst->l1 = (command->words[1] & DMA_L1_MASK) + command->requested;
  burst->external = command->words[2] + command->requested / command->line * command->stride + in_line;
  burst->outside = memory_at(platform, burst->external, bytes, 0);
  if (!burst->outside) return refuse(platform, command, burst->external);
  if ((uint64_t)burst->l1 + bytes > (uint64_t)platform->config.memory_l1_size) return refuse(platform, command, burst->l1);
  command->requested += bytes;
  return 1;
}

void dma_request(struct platform *platform, uint32_t direction, uint64_t cycle) {
  struct dma_direction *way = &platform->dma.direction[direction];
  struct dma_command *command = at(way, way->current);
  struct dma_burst *burst = &way->burst[(way->burst_first + way->burst_count) % DMA_BURSTS];
  way->request_cycle = NEVER;
  if (!command->length) { /* nothing moves, and nothing of it is left once those before it are done */
    if (way->current != way->first) {
      way->request_cycle = cycle + 1;
      return;
    }
    way->current++;
    command->started = cycle;
    dma_finish(platform, direction, cycle);
    schedule_request(platform, direction, cycle);
    return;
  }
  way->is_current = 1;
  if (!cut(platform, command, burst)) return;
  burst->available = cycle + 1 + (direction ? (uint64_t)platform->config.dma_l2_read_latency : 0);
  if (command->requested == command->length) {
    way->is_current = 0;
    way->current++;
  }
  if (++way->burst_count == 1) schedule_move(platform, direction, cycle);
  schedule_request(platform, direction, cycle);
}

static void check_races(struct platform *platform, uint32_t direction, const struct dma_burst *burst, uint32_t bytes,
                        uint64_t cycle) {
  uint64_t weight = burst->external + burst->done - (uint32_t)platform->config.memory_weight_base;
  if (!platform->peripherals.claim_count) return;
  check_race(platform, -1, TVM_PULP_PORT_L1, burst->l1 + burst->done, bytes, direction == 1, cycle);
  if (weight < (uint64_t)platform->config.memory_weight_size)
    check_race(platform, -1, TVM_PULP_PORT_WEIGHT, (uint32_t)weight, bytes, direction == 0, cycle);
}

static void observe(struct platform *platform, uint32_t direction, const struct dma_burst *burst, uint32_t bytes,
                    uint64_t cycle) {
  uint32_t inside = (uint32_t)platform->config.memory_l1_base + burst->l1 + burst->done, outside = burst->external + burst->done;
  agent_access(platform, AGENT_DMA, direction ? outside : inside, bytes, 0, cycle);
  agent_access(platform, AGENT_DMA, direction ? inside : outside, bytes, 1, cycle);
}

/* Move the next bytes of the burst at the head, the first of them at `started`. */
static void move_bytes(struct platform *platform, uint32_t direction, uint32_t bytes, uint64_t started, uint64_t cycle) {
  struct dma *dma = &platform->dma;
  struct dma_direction *way = &dma->direction[direction];
  struct dma_burst *burst = first_burst(way);
  struct dma_command *command = at(way, way->first);
  uint8_t *inside = platform->l1 + burst->l1 + burst->done, *outside = burst->outside + burst->done;
  check_races(platform, direction, burst, bytes, cycle);
  if (direction == 1) memmove(inside, outside, bytes);
  else memmove(outside, inside, bytes);
  if (UNLIKELY(platform->config.observe)) observe(platform, direction, burst, bytes, cycle);
  if (!command->moved) command->started = started;
  command->moved += bytes;
  burst->done += bytes;
  dma->bytes[direction] += bytes;
  if (burst->done < burst->bytes) return;
  way->burst_first = (way->burst_first + 1) % DMA_BURSTS;
  way->burst_count--;
  if (command->moved == command->length) dma_finish(platform, direction, cycle);
}

/* One word through each port that is ready. */
static void move_words(struct platform *platform, uint32_t direction, uint64_t cycle) {
  struct dma_direction *way = &platform->dma.direction[direction];
  uint32_t mask = (uint32_t)platform->config.memory_l1_banks - 1;
  for (uint32_t i = 0; i < word_ports(platform); i++) {
    const struct dma_burst *burst = first_burst(way);
    uint32_t l1 = burst->l1 + burst->done, bytes = 4 - l1 % 4, left = burst->bytes - burst->done;
    uint64_t *bank = &platform->l1_bank_free[l1 / 4 & mask];
    uint64_t free = *bank > cycle ? *bank : cycle;
    if (way->port_ready[i] > cycle) continue;
    if (!way->burst_count || burst->available > cycle) return;
    platform->dma.conflict_cycles += free - cycle;
    *bank = free + 1;
    way->port_ready[i] = free + 1;
    move_bytes(platform, direction, bytes < left ? bytes : left, cycle, cycle);
  }
}

void dma_move(struct platform *platform, uint32_t direction, uint64_t cycle) {
  struct dma_direction *way = &platform->dma.direction[direction];
  const struct dma_burst *burst = first_burst(way);
  if (platform->config.memory_l1_conflicts) {
    move_words(platform, direction, cycle);
  } else {
    uint64_t started = (way->next_slot - words_of(burst)) / word_ports(platform);
    move_bytes(platform, direction, burst->bytes, started, cycle);
  }
  schedule_move(platform, direction, cycle);
  schedule_request(platform, direction, cycle);
}
