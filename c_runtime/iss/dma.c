/* SPDX-License-Identifier: Apache-2.0 */
#include "dma.h"

#include <string.h>

#include "memory.h"

void dma_create(struct platform *platform) {
  struct dma *dma = &platform->dma;
  for (uint32_t i = 0; i < DMA_PORTS; i++) dma->port[i].counter = DMA_COUNTERS;
  for (uint32_t d = 0; d < 2; d++) dma->direction[d].request_cycle = dma->direction[d].move_cycle = NEVER;
  dma->drain_cycle = dma->cycle = NEVER;
}

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

void dma_schedule(struct platform *platform, uint64_t cycle) {
  struct dma *dma = &platform->dma;
  uint64_t first;
  if (dma->drain_cycle == NEVER)
    for (uint32_t d = 0; d < 2; d++)
      if (dma->in_core_queues[d] && !dma_is_full(platform, d)) dma->drain_cycle = cycle + 1;
  first = dma->drain_cycle;
  for (uint32_t d = 0; d < 2; d++) {
    if (dma->direction[d].request_cycle < first) first = dma->direction[d].request_cycle;
    if (dma->direction[d].move_cycle < first) first = dma->direction[d].move_cycle;
  }
  dma->cycle = first;
}

/* Take the first command of a direction out of a core's queue. */
static int pop(struct dma_port *port, uint32_t direction, struct dma_command *command) {
  for (uint32_t i = 0; i < port->queued; i++) {
    if (((port->queue[i].words[0] & DMA_TO_L1) != 0) != direction) continue;
    *command = port->queue[i];
    port->queued--;
    memmove(port->queue + i, port->queue + i + 1, (port->queued - i) * sizeof port->queue[0]);
    return 1;
  }
  return 0;
}

/* The ports in turn: those of the cores, of a further core that nobody uses here, and of masters outside the cluster. */
static struct dma_port *port_in_turn(struct dma *dma, uint32_t cores, uint32_t number) {
  number %= cores + 2;
  return number < cores ? &dma->port[number] : number > cores ? &dma->port[DMA_PORTS - 1] : NULL;
}

/* One command per cycle leaves the queues of the ports; those towards L1 first. */
static void drain(struct platform *platform, uint64_t cycle) {
  struct dma *dma = &platform->dma;
  uint32_t cores = (uint32_t)platform->config.cluster_cores;
  uint32_t direction = dma->in_core_queues[1] && !dma_is_full(platform, 1);
  struct dma_command command;
  dma->drain_cycle = NEVER;
  if (!direction && (!dma->in_core_queues[0] || dma_is_full(platform, 0))) return;
  for (uint32_t i = 0; i < cores + 2; i++) {
    struct dma_port *port = port_in_turn(dma, cores, dma->turn + i);
    if (!port || !pop(port, direction, &command)) continue;
    dma->in_core_queues[direction]--;
    dma->turn = (dma->turn + 1) % (cores + 2);
    dma_push(platform, &command, cycle);
    release_blocked(platform, cycle);
    return;
  }
}

void dma_count(struct platform *platform, uint32_t direction, uint64_t start, uint64_t end, uint64_t bytes) {
  platform->dma.transfers++;
  platform->dma.busy_cycles[direction] += end - start;
  trace_span(&platform->trace, TRACE_DMA, direction, start, end, bytes);
}

void dma_copy(struct platform *platform, uint32_t target, uint32_t source, uint32_t bytes, uint64_t cycle) {
  uint8_t *to = memory_at(platform, target, bytes, 1);
  const uint8_t *from = memory_at(platform, source, bytes, 0);
  if (platform->config.observe) agent_access(platform, AGENT_DMA, home_address(platform, source), bytes, 0, cycle);
  memmove(to, from, bytes);
  if (platform->config.observe) agent_access(platform, AGENT_DMA, home_address(platform, target), bytes, 1, cycle);
}

void dma_finish(struct platform *platform, uint32_t direction, uint64_t cycle) {
  struct dma *dma = &platform->dma;
  struct dma_direction *way = &dma->direction[direction];
  const struct dma_command *command = &way->command[way->first++ % DMA_QUEUE];
  uint32_t flags = command->words[0], port = command->port;
  uint32_t cores = flags & DMA_BROADCAST ? ~0u : port < MAX_CORES ? 1u << port : 0;
  dma_count(platform, direction, command->started, cycle + 1, command->length);
  if (--dma->counter[command->counter].transfers == 0) {
    if (flags & DMA_EVENT) event_raise(platform, cores, EVENT_DMA, cycle);
    if (flags & DMA_IRQ) event_raise(platform, cores, EVENT_DMA_IRQ, cycle);
  }
}

void dma_advance(struct platform *platform, uint64_t cycle) {
  struct dma *dma = &platform->dma;
  while (dma->cycle <= cycle && platform->state == RUN_GOING) {
    uint64_t now = dma->cycle;
    if (dma->drain_cycle == now) drain(platform, now);
    for (uint32_t d = 0; d < 2; d++) {
      if (dma->direction[d].move_cycle == now) dma_move(platform, d, now);
      if (dma->direction[d].request_cycle == now) dma_request(platform, d, now);
    }
    dma_schedule(platform, now);
  }
}

/* Why a command cannot run, or NULL. */
static const char *check_command(const struct dma_port *port) {
  if (port->counter >= DMA_COUNTERS) return "DMA command without an allocated counter: read the CMD register first";
  if (!(port->words[0] & DMA_INCREMENT)) return "DMA command with the increment bit (18) clear is not modelled";
  if (port->words[0] & DMA_TWO_D_L1) return "DMA command that is two-dimensional on the L1 side is not modelled";
  if ((port->words[0] & DMA_TWO_D) && port->words[3] == 0) return "two-dimensional DMA command with a line of 0 bytes";
  return NULL;
}

int dma_read(struct hart *hart, uint32_t port, uint32_t offset, uint32_t *value) {
  struct dma *dma = &hart->platform->dma;
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

static void enqueue(struct platform *platform, uint32_t port_number, uint64_t cycle) {
  struct dma *dma = &platform->dma;
  struct dma_port *port = &dma->port[port_number];
  struct dma_command *command = &port->queue[port->queued++];
  memset(command, 0, sizeof *command);
  memcpy(command->words, port->words, sizeof command->words);
  command->port = port_number;
  command->counter = port->counter;
  command->length = command->words[0] & DMA_LENGTH_MASK;
  command->line = command->words[0] & DMA_TWO_D ? command->words[3] : command->length;
  command->stride = command->words[0] & DMA_TWO_D ? command->words[4] : 0;
  dma->counter[port->counter].transfers++;
  dma->in_core_queues[(command->words[0] & DMA_TO_L1) != 0]++;
  port->word_count = 0;
  dma_schedule(platform, cycle);
}

int dma_write(struct hart *hart, uint32_t port_number, uint32_t offset, uint64_t cycle, uint32_t value) {
  struct platform *platform = hart->platform;
  struct dma_port *port = &platform->dma.port[port_number];
  const char *problem;
  if (offset == 4) {
    for (uint32_t i = 0; i < DMA_COUNTERS; i++)
      if (value >> i & 1) platform->dma.counter[i].allocated = 0;
    release_blocked(platform, cycle + 1);
    return ACCESS_OK;
  }
  if (offset != 0) return ACCESS_NOWHERE;
  if (port->queued >= (uint32_t)platform->config.dma_core_queue)
    return block(hart); /* the word is written again when a command has left the queue */
  port->words[port->word_count++] = value;
  if (port->word_count < (port->words[0] & DMA_TWO_D ? 5u : 3u)) return ACCESS_OK;
  problem = check_command(port);
  if (problem) {
    platform_fault(platform, FAULT_PERIPHERAL, hart, 0, "%s", problem);
    return ACCESS_STOP;
  }
  enqueue(platform, port_number, cycle);
  return ACCESS_OK;
}
