/* SPDX-License-Identifier: Apache-2.0
 *
 * Results on their way to the registers. The register file has one write port: an instruction that writes a register
 * takes it in the cycle of its issue, results of loads and offloaded instructions take the cycles that are left. */
#include "snitch.h"

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
