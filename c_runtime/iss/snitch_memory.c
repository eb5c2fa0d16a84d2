/* SPDX-License-Identifier: Apache-2.0
 *
 * The address map of a Snitch cluster, for every access that is not a plain one of L1. */
#include <string.h>

#include "memory.h"
#include "pool.h"
#include "snitch_access.h"

enum { CLUSTER_WINDOW = 0x50000, PERIPHERALS_AT = 0x20000, ZERO_AT = 0x30000, ENGINES_AT = 0x40000,
       ALIAS_DISTANCE = 0x08000000, HTIF_WRITE = 64, HTIF_LONGEST = 0x10000 };
#define CLINT 0xffff0000u
#define POOL_CONSOLE 0xc0000000u

enum snitch_place snitch_resolve(struct platform *platform, uint32_t address, uint32_t *offset) {
  const struct config *config = &platform->config;
  uint32_t inside = address - (uint32_t)config->memory_l1_base;
  if (inside - ALIAS_DISTANCE < CLUSTER_WINDOW && !platform->pool) inside -= ALIAS_DISTANCE;
  *offset = inside;
  if (inside < config->memory_l1_size) return PLACE_L1;
  if (inside < CLUSTER_WINDOW && !platform->pool) {
    if (inside >= ENGINES_AT) return PLACE_ENGINE;
    if (inside >= ZERO_AT) return PLACE_ZERO;
    *offset = inside - PERIPHERALS_AT;
    return inside >= PERIPHERALS_AT ? PLACE_REGISTER : PLACE_NOWHERE;
  }
  *offset = address - (uint32_t)config->memory_l2_base;
  if (*offset < config->memory_l2_size) return PLACE_OUTSIDE;
  if (!platform->pool) return address - CLINT < 4 ? PLACE_CLINT : PLACE_NOWHERE;
  *offset = inside;
  if (peripheral_at(platform, address)) return PLACE_ENGINE;
  *offset = address - POOL_REGISTERS;
  if (*offset < POOL_REGISTER_BYTES) return PLACE_REGISTER;
  return address == POOL_CONSOLE ? PLACE_CONSOLE : PLACE_NOWHERE;
}

uint32_t snitch_address(const struct platform *platform, uint32_t address) {
  uint32_t inside = address - (uint32_t)platform->config.memory_l1_base;
  return inside - ALIAS_DISTANCE < CLUSTER_WINDOW && !platform->pool ? address - ALIAS_DISTANCE : address;
}

void snitch_observe(struct hart *hart, uint32_t address, uint32_t size, int is_write, uint32_t value) {
  struct platform *platform = hart->platform;
  uint32_t offset;
  enum snitch_place place;
  if (!platform->config.observe) return;
  place = snitch_resolve(platform, address, &offset);
  agent_access(platform, (int)hart->index, snitch_address(platform, address), size, is_write, hart->now);
  if (is_write && place != PLACE_L1 && place != PLACE_OUTSIDE)
    observer_register(&platform->observer, snitch_address(platform, address), value);
}

/* Registers of the cluster with its accelerators, and those of interrupts; all of a pool lie in one stretch. */
int snitch_register_space(const struct platform *platform, uint32_t number, uint32_t *base, uint32_t *bytes) {
  if (number > !platform->pool) return -1;
  *base = platform->pool ? POOL_REGISTERS : number ? CLINT : (uint32_t)platform->config.memory_l1_base + PERIPHERALS_AT;
  *bytes = platform->pool ? POOL_REGISTER_BYTES : number ? 4 : CLUSTER_WINDOW - PERIPHERALS_AT;
  return 0;
}

/* The zero memory is read by the DMA; nothing is ever written to it. */
static uint8_t zeros[0x10000];

uint8_t *snitch_memory(struct platform *platform, uint32_t address, uint64_t bytes, int is_write) {
  const struct config *config = &platform->config;
  uint32_t offset;
  switch (snitch_resolve(platform, address, &offset)) {
    case PLACE_L1: return offset + bytes <= (uint64_t)config->memory_l1_size ? platform->l1 + offset : NULL;
    case PLACE_OUTSIDE: return offset + bytes <= (uint64_t)config->memory_l2_size ? platform->l2 + offset : NULL;
    case PLACE_ZERO: return !is_write && offset - ZERO_AT + bytes <= sizeof zeros ? zeros + (offset - ZERO_AT) : NULL;
    default: return NULL;
  }
}

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

static int check(struct hart *hart, enum snitch_place place, uint32_t address, uint32_t size, int is_write) {
  if (place == PLACE_NOWHERE && !hart->platform->pool) return ACCESS_NOWHERE;
  if (address % size)
    return access_misaligned(hart, address, size, is_write, " at an address that is no multiple of it: these cores trap");
  if (size != 4 && (place == PLACE_REGISTER || place == PLACE_ENGINE || place == PLACE_CLINT))
    return access_misaligned(hart, address, size, is_write, OF_REGISTERS);
  return ACCESS_OK;
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
static void tell_host(struct hart *hart, uint32_t value) {
  struct platform *platform = hart->platform;
  uint32_t call[8], one = 1;
  const uint8_t *words = NULL, *text;
  uint8_t *answer = snitch_memory(platform, platform->snitch->fromhost, 4, 1);
  if (!value) return;
  if (value & 1) {
    platform_exit(platform, value >> 1, hart->now);
    return;
  }
  words = snitch_memory(platform, value, sizeof call, 0);
  if (words) memcpy(call, words, sizeof call);
  text = words && call[0] == HTIF_WRITE && call[6] <= HTIF_LONGEST ? snitch_memory(platform, call[4], call[6], 0) : NULL;
  if (!text) {
    platform_fault(platform, FAULT_PERIPHERAL, hart, value, "tohost takes exit codes and calls that print, no others");
    return;
  }
  for (uint32_t i = 0; i < call[6]; i++) guest_prints(platform, hart, 0, hart->index & 15, (char)text[i]);
  if (answer) memcpy(answer, &one, 4);
  if (answer) written_mark(platform, platform->snitch->fromhost, 4, 1);
}

static void set_software_interrupts(struct hart *hart, uint32_t value) {
  struct platform *platform = hart->platform;
  platform->snitch->software_interrupts = value;
  for (uint32_t i = 0; i < platform->hart_count; i++)
    snitch_interrupt(platform, i, 3, (int)(value >> i & 1), hart->now);
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
static int engine_access(struct hart *hart, uint32_t address, int is_write, uint32_t *value, uint64_t *answer) {
  struct platform *platform = hart->platform;
  struct peripheral *engine = peripheral_at(platform, address);
  if (!engine) return ACCESS_NOWHERE;
  if (is_write && !platform->pool) {
    *answer = send(hart, address, *value);
    return ACCESS_OK;
  }
  if (platform->snitch->writes) {
    hart->count.external_loads--;
    return ACCESS_BLOCKED;
  }
  if (peripherals_next(platform) <= hart->now) peripherals_advance(platform, hart->now);
  if (!platform->pool) *answer = hart->now + (uint64_t)platform->config.scoreboard_engine_load;
  peripheral_access(engine, address, hart->index, hart->now, is_write, value);
  return ACCESS_OK;
}

static int access(struct hart *hart, uint32_t address, uint32_t size, int is_write, uint32_t *value, uint64_t *answer) {
  struct platform *platform = hart->platform;
  const struct config *config = &platform->config;
  uint32_t offset;
  enum snitch_place place = snitch_resolve(platform, address, &offset);
  int status = check(hart, place, address, size, is_write);
  int is_register = place == PLACE_REGISTER || (platform->pool && place != PLACE_OUTSIDE);
  uint8_t *memory;
  if (!is_write) *value = 0;
  if (status != ACCESS_OK) return status;
  if (place != PLACE_L1) *(is_write ? &hart->count.external_stores : &hart->count.external_loads) += 1;
  *answer = hart->now + (uint64_t)(is_register ? config->timing_peripheral : config->memory_l2_latency);
  switch (place) {
    case PLACE_L1:
    case PLACE_OUTSIDE:
      memory = snitch_memory(platform, address, size, is_write);
      if (!memory) return ACCESS_NOWHERE;
      if (place == PLACE_L1) *answer = snitch_ask_l1(hart, offset, size, is_write);
      memcpy(is_write ? memory : (uint8_t *)value, is_write ? (uint8_t *)value : memory, size);
      if (is_write && place == PLACE_OUTSIDE && address && address == platform->snitch->tohost) tell_host(hart, *value);
      return ACCESS_OK;
    case PLACE_ZERO: return ACCESS_OK;
    case PLACE_REGISTER:
      return (platform->pool ? pool_register_access : snitch_register_access)(hart, offset, is_write, value);
    case PLACE_ENGINE: return engine_access(hart, (uint32_t)config->memory_l1_base + offset, is_write, value, answer);
    case PLACE_CLINT:
      if (is_write) set_software_interrupts(hart, *value);
      else *value = platform->snitch->software_interrupts;
      return ACCESS_OK;
    case PLACE_CONSOLE:
      if (!is_write) return ACCESS_NOWHERE;
      guest_prints(platform, hart, hart->index / 16, hart->index % 16, (char)*value);
      return ACCESS_OK;
    default: return ACCESS_NOWHERE;
  }
}

int snitch_access(struct hart *hart, uint32_t address, uint32_t size, int is_write, uint32_t *value, uint64_t *answer) {
  int status;
  hart->platform->running = hart;
  status = access(hart, address, size, is_write, value, answer);
  if (status == ACCESS_NOWHERE) status = access_nowhere(hart, address, size, is_write);
  if (status == ACCESS_OK) snitch_observe(hart, address, size, is_write, *value);
  status = access_settle(hart, status);
  if (status != ACCESS_BLOCKED) return status;
  hart_block(hart);
  hart_wake(hart, engine_arrival(hart->platform) + 1);
  return status;
}
