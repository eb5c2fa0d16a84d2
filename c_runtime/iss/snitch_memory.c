/* SPDX-License-Identifier: Apache-2.0
 *
 * What accesses of Snitch cores do besides: banks are taken for L1, a word in L2 tells the host, stores travel to
 * accelerators. */
#include <string.h>

#include "memory.h"
#include "pool.h"

enum { HTIF_WRITE = 64, HTIF_LONGEST = 0x10000 };

/* All banks of an accelerator's access serve it in the same cycle; those that could serve it earlier did so in vain. */
uint64_t snitch_take_banks(struct platform *platform, uint32_t address, uint32_t bytes, uint64_t cycle) {
  struct snitch *snitch = platform->snitch;
  if (platform->pool) return pool_take_banks(platform, address, bytes, cycle);
  uint32_t mask = (uint32_t)platform->config.memory_l1_banks - 1, first = address >> 3, last = (address + bytes - 1) >> 3;
  if (last - first > mask) last = first + mask; /* no bank twice */
  for (uint64_t now = cycle;; now++) {
    int granted = 1;
    for (uint32_t bank = first; bank <= last; bank++) {
      uint64_t *free = &snitch->bank_free[bank & mask];
      int busy = *free > now || (now < snitch->dma.busy_until &&
                                 snitch_dma_avoid(platform, bank >> 3 & (SNITCH_SUPERBANKS - 1), now) != now);
      if (busy) granted = 0;
      else *free = now + 1;
    }
    if (granted) {
      platform->peripherals.conflict_cycles += now - cycle;
      return now - cycle;
    }
  }
}

/* When an access of L1 is answered. */
uint64_t snitch_ask_l1(struct hart *hart, uint32_t offset, uint32_t size, int is_write) {
  struct platform *platform = hart->platform;
  struct snitch_core *core = &platform->snitch->core[hart->index];
  uint64_t asked = core->port_free > hart->now ? core->port_free : hart->now, served, answer;
  if (platform->pool) {
    (void)pool_ask(platform, hart->index, offset, hart->now, &answer);
    return answer;
  }
  served = snitch_take_bank(platform, offset, asked);
  if (platform->peripherals.l1_claims)
    check_race(platform, (int)hart->index, TVM_PULP_PORT_L1, offset, size, is_write, hart->now);
  core->congested += served - asked;
  core->port_free = served + 1;
  return served + (uint64_t)platform->config.scoreboard_load;
}

/* A message to the host: an exit code with the lowest bit set, or where four words of a call are: write, file, text,
 * length, eight bytes each. */
void snitch_tell_host(struct hart *hart, uint32_t address, uint32_t value) {
  struct platform *platform = hart->platform;
  uint32_t call[8], one = 1;
  const uint8_t *words = NULL, *text;
  uint8_t *answer = memory_at(platform, platform->snitch->fromhost, 4, 1);
  if (!value || !address || address != platform->snitch->tohost) return;
  if (value & 1) {
    platform_exit(platform, value >> 1, hart->now);
    return;
  }
  words = memory_at(platform, value, sizeof call, 0);
  if (words) memcpy(call, words, sizeof call);
  text = words && call[0] == HTIF_WRITE && call[6] <= HTIF_LONGEST ? memory_at(platform, call[4], call[6], 0) : NULL;
  if (!text) {
    platform_fault(platform, FAULT_PERIPHERAL, hart, value, "tohost takes exit codes and calls that print, no others");
    return;
  }
  for (uint32_t i = 0; i < call[6]; i++) guest_prints(platform, hart, 0, hart->index & 15, (char)text[i]);
  if (answer) memcpy(answer, &one, 4);
  if (answer) written_mark(platform, platform->snitch->fromhost, 4, 1);
}

/* When the newest store to an accelerator arrives. */
static uint64_t engine_arrival(const struct platform *platform) {
  const struct snitch *snitch = platform->snitch;
  return snitch->write[(snitch->first_write + snitch->writes - 1) % SNITCH_WRITES].cycle;
}

void snitch_deliver(struct platform *platform, uint64_t cycle) {
  struct snitch *snitch = platform->snitch;
  while (snitch->writes && snitch->write[snitch->first_write].cycle <= cycle) {
    const struct snitch_write *made = &snitch->write[snitch->first_write];
    struct peripheral *engine = peripheral_at(platform, made->address);
    snitch->first_write = (snitch->first_write + 1) % SNITCH_WRITES;
    snitch->writes--;
    engine->model->write(engine->self, made->address - engine->base, made->value, made->hart, made->cycle);
  }
}

/* One after the other through the one way to accelerators; returns when it is answered. */
static uint64_t send(struct hart *hart, uint32_t address, uint32_t value) {
  struct platform *platform = hart->platform;
  struct snitch *snitch = platform->snitch;
  const struct config *config = &platform->config;
  uint64_t arrival = hart->now + (uint64_t)config->scoreboard_engine_store_delay;
  uint64_t earliest = snitch->last_arrival + (uint64_t)config->scoreboard_engine_store_interval;
  struct snitch_write *made = &snitch->write[(snitch->first_write + snitch->writes++) % SNITCH_WRITES];
  if (snitch->last_arrival && arrival < earliest) arrival = earliest;
  snitch->last_arrival = arrival;
  made->cycle = arrival;
  made->address = address;
  made->value = value;
  made->hart = hart->index;
  /* Without others before it, after an interval. */
  return arrival - (uint64_t)config->scoreboard_engine_store_delay + (uint64_t)config->scoreboard_engine_store_interval;
}

/* Where cores do not wait for stores, what was stored before is there before an accelerator is looked at. */
int snitch_engine_access(struct hart *hart, uint32_t address, int is_write, uint32_t *value) {
  struct platform *platform = hart->platform;
  struct snitch_core *core = hart->snitch_core;
  if (is_write && !platform->pool) {
    core->answer = send(hart, address, *value);
    return ACCESS_OK;
  }
  if (platform->snitch->writes) {
    hart_block(hart);
    hart_wake(hart, engine_arrival(platform) + 1);
    return ACCESS_BLOCKED;
  }
  if (peripherals_next(platform) <= hart->now) peripherals_advance(platform, hart->now);
  if (!platform->pool) core->answer = hart->now + (uint64_t)platform->config.scoreboard_engine_load;
  peripheral_access(peripheral_at(platform, address), address, hart->index, hart->now, is_write, value);
  return ACCESS_OK;
}
