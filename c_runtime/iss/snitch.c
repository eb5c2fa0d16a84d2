/* SPDX-License-Identifier: Apache-2.0
 *
 * What the cores of a Snitch cluster share besides memory: the barrier, interrupts, control and status registers. Their
 * results on the way to the registers, whose file has one write port: an instruction that writes a register takes it in
 * the cycle of its issue, results of loads and offloaded instructions take the cycles that are left. */
#include "snitch.h"

#include <stdlib.h>

#include "memory.h"
#include "pool.h"

int snitch_create(struct platform *platform) {
  platform->snitch = calloc(1, sizeof *platform->snitch);
  if (!platform->snitch) return -1;
  for (uint32_t i = 0; i < SNITCH_CORES; i++) platform->snitch->core[i].next_result = NEVER;
  platform->run = platform->config.observe ? snitch_execute_observed : snitch_execute;
  if (platform->config.core_is_pool) {
    if (pool_create(platform)) return -1;
    platform->run = platform->config.observe ? pool_execute_observed : pool_execute;
  }
  platform->line_slots = SNITCH_LINE_SLOTS;
  snitch_dma_create(platform);
  return 0;
}

uint64_t snitch_next(const struct platform *platform) {
  const struct snitch *snitch = platform->snitch;
  uint64_t transfer = platform->pool ? pool_dma_next(platform) : snitch_dma_next(platform), arrival = NEVER;
  if (snitch->writes) arrival = snitch->write[snitch->first_write].cycle;
  return transfer < arrival ? transfer : arrival;
}

void snitch_advance(struct platform *platform, uint64_t cycle) {
  if (platform->pool) pool_dma_advance(platform, cycle);
  snitch_dma_advance(platform, cycle);
  snitch_deliver(platform, cycle);
}

/* The first access stops the core; once all have made one, it is answered. All go on in the same cycle. */
int snitch_arrive(struct hart *hart) {
  struct platform *platform = hart->platform;
  uint32_t all = (1u << platform->hart_count) - 1;
  /* The access itself takes the last cycle. */
  uint64_t exit = hart->now + (uint64_t)platform->config.scoreboard_barrier_exit - 1;
  if (hart->wait.ready) {
    hart->wait.ready = 0;
    return ACCESS_OK;
  }
  hart->wait.kind = WAIT_BARRIER;
  hart_sleep(hart);
  platform->snitch->arrived |= 1u << hart->index;
  if (platform->snitch->arrived != all) return ACCESS_SLEEP;
  platform->snitch->arrived = 0;
  for (uint32_t i = 0; i < platform->hart_count; i++) {
    platform->harts[i].wait.ready = 1;
    hart_wake(&platform->harts[i], exit);
  }
  return ACCESS_SLEEP;
}

void snitch_interrupt(struct platform *platform, uint32_t index, uint32_t cause, int level, uint64_t cycle) {
  struct hart *hart = &platform->harts[index];
  uint32_t *pending = &platform->snitch->core[index].interrupts;
  *pending = level ? *pending | 1u << cause : *pending & ~(1u << cause);
  if (!*pending || hart->state != HART_ASLEEP || hart->wait.kind != WAIT_INTERRUPT) return;
  hart->wait.ready = 1;
  hart_wake(hart, cycle + 1);
}

int snitch_wait_for_interrupt(struct hart *hart) {
  struct pool *pool = hart->platform->pool;
  int is_woken = hart->wait.ready || hart->platform->snitch->core[hart->index].interrupts;
  hart->wait.ready = 0;
  if (!is_woken && pool && pool->wake_ups[hart->index]) {
    pool->wake_ups[hart->index]--;
    is_woken = 1;
  }
  if (is_woken) return ACCESS_OK;
  hart->wait.kind = WAIT_INTERRUPT;
  hart_sleep(hart);
  return ACCESS_SLEEP;
}

/* Whether another result than `self` takes the port in a cycle. */
static uint32_t taken_by(const struct snitch_core *core, uint32_t self, uint64_t cycle) {
  for (uint32_t i = 0; i < core->result_count; i++)
    if (i != self && core->result[i].cycle == cycle) return i;
  return core->result_count;
}

static void set_cycle(struct snitch_core *core, uint32_t number, uint64_t cycle) {
  core->result[number].cycle = cycle;
  core->ready[core->result[number].rd] = cycle + 1;
  if (cycle > core->latest) core->latest = cycle;
}

/* The cycle from which all these registers can be read; results that are there by then are forgotten. */
uint64_t snitch_wait(struct snitch_core *core, uint32_t registers, uint64_t cycle) {
  uint32_t rest = core->busy & registers;
  for (; rest; rest &= rest - 1) {
    uint32_t number = (uint32_t)__builtin_ctz(rest);
    if (core->ready[number] > cycle) cycle = core->ready[number];
  }
  core->busy &= ~registers;
  return cycle;
}

/* An instruction that writes a register is issued: results that arrived before are in, one of this cycle waits. */
void snitch_push_results(struct snitch_core *core, uint64_t cycle) {
  uint32_t kept = 0, moved = SNITCH_RESULTS;
  uint64_t next = NEVER; /* the first behind this cycle */
  for (uint32_t i = 0; i < core->result_count; i++) {
    uint64_t at = core->result[i].cycle;
    if (at < cycle) continue;
    if (at == cycle) moved = kept;
    else if (at < next) next = at;
    core->result[kept++] = core->result[i];
  }
  core->result_count = kept;
  core->next_result = next;
  if (moved == SNITCH_RESULTS) return;
  core->next_result = cycle + 1;
  while (moved < kept) { /* and pushes the one whose cycle it takes */
    uint32_t pushed = next == cycle + 1 ? taken_by(core, moved, cycle + 1) : kept;
    set_cycle(core, moved, ++cycle);
    next = cycle + 1;
    moved = pushed;
  }
}

/* A result can be read from `ready` on, if those on their way leave it the port. */
void snitch_expect_behind(struct snitch_core *core, uint32_t rd, uint64_t ready) {
  uint64_t cycle = ready - 1;
  if (rd >= 32) return;
  if (core->result_count == SNITCH_RESULTS) { /* all but the newest are long in */
    for (uint32_t i = 1; i < SNITCH_RESULTS; i++) core->result[i - 1] = core->result[i];
    core->result_count--;
  }
  if (cycle <= core->latest)
    while (taken_by(core, SNITCH_RESULTS, cycle) < core->result_count) cycle++;
  core->result[core->result_count].rd = rd;
  set_cycle(core, core->result_count++, cycle);
  core->busy |= 1u << rd;
  if (cycle < core->next_result) core->next_result = cycle;
}
