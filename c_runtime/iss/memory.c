/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <string.h>

#include "iss.h"
#include "pool.h"
#include "scheduler.h"

#define SNITCH_CLINT 0xffff0000u
#define POOL_CONSOLE 0xc0000000u
#define COUNT(windows) (sizeof(windows) / sizeof *(windows))

/* The DMA of a Snitch cluster reads it; nothing is ever written to it. */
static uint8_t zeros[0x10000];

void address_map_add(struct platform *platform, const struct window *windows, uint32_t count) {
  memcpy(platform->map.window + platform->map.count, windows, count * sizeof *windows);
  platform->map.count += count;
}

void address_map_create(struct platform *platform) {
  const struct config *config = &platform->config;
  uint32_t l1 = (uint32_t)config->memory_l1_base, l1_bytes = (uint32_t)config->memory_l1_size;
  uint32_t l2 = (uint32_t)config->memory_l2_base, private = (uint32_t)config->memory_l2_private_bytes;
  const struct window pool[] = {{PLACE_CONSOLE, VIEW_ALL, POOL_CONSOLE, 4, NULL, 0},
                                {PLACE_POOL, VIEW_ALL, POOL_REGISTERS, POOL_REGISTER_BYTES, NULL, 0}};
  const struct window snitch[] = {{PLACE_ALIAS, VIEW_ALL, l1 + 0x8000000, 0x50000, NULL, l1},
                                  {PLACE_SNITCH, VIEW_ALL, l1 + 0x20000, 0x30000, NULL, 0},
                                  {PLACE_CLINT, VIEW_ALL, SNITCH_CLINT, 4, NULL, 0},
                                  {PLACE_ZERO, VIEW_ALL, l1 + 0x30000, sizeof zeros, zeros, 0}};
  const struct window bare[] = {{PLACE_NOWHERE, VIEW_ALL, l1 + CLUSTER_REGISTERS, 0x200000, NULL, 0},
                                {PLACE_NOWHERE, VIEW_ALL, APB_BASE, APB_END - APB_BASE, NULL, 0}};
  const struct window cluster[] = {{PLACE_CLUSTER, VIEW_ALL, l1 + CLUSTER_REGISTERS, 0x200000, NULL, 0},
                                   {PLACE_CORE_PORT, VIEW_CORE, l1 + CLUSTER_REGISTERS + CORE_PORTS, 0x800, NULL, 0},
                                   {PLACE_APB, VIEW_ALL, APB_BASE, APB_END - APB_BASE, NULL, 0},
                                   {PLACE_ALIAS, VIEW_CORE, 0, l1 ? 0x400000 : 0, NULL, l1},
                                   {PLACE_ALIAS, VIEW_CONTROLLER, 0, !l2 ? 0 : private < 0x8000 ? private : 0x8000, NULL, l2},
                                   {PLACE_TEST_AND_SET, VIEW_CORES, l1 + 0x100000, l1_bytes, platform->l1, 0}};
  const struct window memories[] = {
      {PLACE_WEIGHT, VIEW_ALL, (uint32_t)config->memory_weight_base, (uint32_t)config->memory_weight_size, platform->weight, 0},
      {PLACE_L2, VIEW_ALL, l2, (uint32_t)config->memory_l2_size, platform->l2, 0},
      {PLACE_L1, VIEW_ALL, l1, l1_bytes, platform->l1, 0}};
  if (platform->pool) address_map_add(platform, pool, COUNT(pool));
  else if (platform->snitch) address_map_add(platform, snitch, COUNT(snitch));
  else if (config->bare) address_map_add(platform, bare, COUNT(bare));
  else address_map_add(platform, cluster, COUNT(cluster));
  address_map_add(platform, memories, COUNT(memories));
}

struct target resolve(const struct platform *platform, uint32_t address, uint32_t viewer) {
  static const struct window nowhere = {.place = PLACE_NOWHERE};
  for (const struct window *window = platform->map.window + platform->map.count; window-- > platform->map.window;) {
    uint32_t offset = address - window->base;
    if (offset >= window->bytes || !(window->viewers & viewer)) continue;
    if (window->place == PLACE_ALIAS) return resolve(platform, window->home + offset, viewer);
    return (struct target){window, offset};
  }
  return (struct target){&nowhere, address};
}

uint8_t *memory_at(const struct platform *platform, uint32_t address, uint64_t bytes, int is_write) {
  struct target target = resolve(platform, address, VIEW_SOC);
  if (!target.window->memory || target.offset + bytes > target.window->bytes) return NULL;
  return is_write && target.window->place == PLACE_ZERO ? NULL : target.window->memory + target.offset;
}

uint32_t region_at(const struct platform *platform, uint32_t address, uint64_t bytes, uint32_t *offset) {
  struct target target = resolve(platform, address, VIEW_SOC);
  *offset = target.offset;
  if (*offset + bytes > target.window->bytes || target.window->place > PLACE_L2) return REGION_COUNT;
  return (uint32_t)target.window->place;
}

int iss_register_space(const struct platform *platform, uint32_t number, uint32_t *base, uint32_t *bytes) {
  for (uint32_t i = 0; i < platform->map.count; i++) {
    const struct window *window = &platform->map.window[i];
    if (window->place < PLACE_CLUSTER || number--) continue;
    *base = window->base;
    *bytes = window->bytes;
    return 0;
  }
  return -1;
}

static uint64_t latency(const struct hart *hart, enum place place) {
  const struct config *config = &hart->platform->config;
  if (hart->is_controller)
    return (uint64_t)(place == PLACE_L2       ? config->memory_l2_controller_latency
                      : place == PLACE_APB    ? config->timing_controller_apb
                      : place == PLACE_WEIGHT ? config->memory_weight_controller_latency
                                              : config->memory_l1_controller_latency);
  switch (place) {
    case PLACE_L1: case PLACE_TEST_AND_SET: case PLACE_CORE_PORT: return 1;
    case PLACE_L2: case PLACE_ZERO: case PLACE_CLINT: return (uint64_t)config->memory_l2_latency;
    case PLACE_WEIGHT: return (uint64_t)config->memory_weight_latency;
    case PLACE_APB: return (uint64_t)config->timing_apb;
    default: return (uint64_t)config->timing_peripheral;
  }
}

/* Wait for a bank, as TAKE_BANK of the fast path does. */
static void take_bank(struct hart *hart, uint64_t *bank_free, uint32_t banks, uint32_t offset) {
  uint64_t *slot = &bank_free[(offset >> 2) & (banks - 1)];
  uint64_t cycle = cluster_cycle(hart, hart->now);
  if (cycle < *slot) {
    uint64_t wait = local_cycle(hart, *slot) - hart->now;
    hart->count.l1_conflict += wait;
    hart->now += wait;
    cycle = *slot;
  }
  *slot = cycle + 1;
}

/* The memory at a target, in its turn: banks are taken, and accesses counted that a job excludes. */
static uint8_t *memory_of(struct hart *hart, struct target target, uint32_t size, int is_write) {
  struct platform *platform = hart->platform;
  const struct config *config = &platform->config;
  enum place place = target.window->place;
  uint64_t cycle = cluster_cycle(hart, hart->now);
  if (hart->snitch_core && place == PLACE_L1) {
    hart->snitch_core->answer = snitch_ask_l1(hart, target.offset, size, is_write);
  } else if (place == PLACE_L1 || place == PLACE_TEST_AND_SET) {
    if (config->memory_l1_conflicts) take_bank(hart, platform->l1_bank_free, (uint32_t)config->memory_l1_banks, target.offset);
    if (platform->peripherals.l1_claims)
      check_race(platform, (int)hart->index, TVM_PULP_PORT_L1, target.offset, size, is_write, cycle);
  } else if (place == PLACE_L2 && !hart->snitch_core) {
    if (config->memory_l2_conflicts) take_bank(hart, platform->l2_bank_free, (uint32_t)config->memory_l2_banks, target.offset);
  } else if (place == PLACE_WEIGHT && platform->peripherals.claim_count) {
    check_race(platform, (int)hart->index, TVM_PULP_PORT_WEIGHT, target.offset, size, is_write, cycle);
  }
  return target.window->memory + target.offset;
}

/* Charge the access; the first cycle of the first access is the instruction itself. Snitch cores wait for the answer only
 * when they need it. */
static void charge(struct hart *hart, enum place place, uint64_t cycles, int is_write, int is_second) {
  int is_external = place != PLACE_L1 && place != PLACE_TEST_AND_SET && place != PLACE_CORE_PORT &&
                    !(hart->is_controller && place == PLACE_L2);
  /* Those of a tightly coupled memory that is slow are in there too. */
  uint64_t *lost = is_write ? &hart->count.external_store_cycles : &hart->count.external_load_cycles;
  if (is_external) *(is_write ? &hart->count.external_stores : &hart->count.external_loads) += !is_second;
  else if (is_second) lost = &hart->count.misaligned;
  if (hart->snitch_core) return;
  hart->now += cycles;
  *lost += cycles - !is_second;
}

int access_nowhere(struct hart *hart, uint32_t address, uint32_t size, int is_write) {
  platform_fault(hart->platform, FAULT_ACCESS, hart, address, "%s of %u byte(s) at an address where nothing is mapped",
                 is_write ? "store" : "load", (unsigned)size);
  return ACCESS_STOP;
}

int access_misaligned(struct hart *hart, uint32_t address, uint32_t size, int is_write, const char *reason) {
  platform_fault(hart->platform, FAULT_MISALIGNED, hart, address, "%s of %u byte(s)%s", is_write ? "store" : "load",
                 (unsigned)size, reason);
  return ACCESS_STOP;
}

/* Registers refuse accesses that memories split. */
static int check_size(struct hart *hart, enum place place, uint32_t address, uint32_t size, int is_write) {
  if (place <= PLACE_CONSOLE || place == PLACE_NOWHERE || (size == 4 && address % 4 == 0)) return ACCESS_OK;
  return access_misaligned(hart, address, size, is_write, " to a register, which takes aligned 32-bit accesses only");
}

void observe_access(struct hart *hart, struct target target, uint32_t size, int is_second, int is_write, uint32_t value) {
  struct platform *platform = hart->platform;
  uint32_t address = target.window->base + target.offset;
  if (LIKELY(!platform->config.observe)) return;
  observer_access(platform, (int)hart->index, address, size, is_write, cluster_cycle(hart, hart->now));
  if (is_write || !is_second) /* a word that is split may reach past the end of a tensor */
    written_access(platform, (int)hart->index, address, size, is_write, cluster_cycle(hart, hart->now));
  if (is_write && !target.window->memory) observer_register(&platform->observer, address, value);
}

/* Inside one aligned word. */
static int access_part(struct hart *hart, uint32_t address, uint32_t size, int is_second, int is_write, uint32_t *value) {
  struct target target = resolve(hart->platform, address, view_of(hart));
  enum place place = target.window->place;
  int status = check_size(hart, place, address, size, is_write), is_test = place == PLACE_TEST_AND_SET && !is_write;
  uint64_t cycles = latency(hart, place);
  if (!is_write) *value = 0;
  if (status != ACCESS_OK) return status;
  if (hart->snitch_core) hart->snitch_core->answer = hart->now + cycles;
  if ((uint64_t)target.offset + size > target.window->bytes) {
    status = ACCESS_NOWHERE;
  } else if (place < PLACE_ZERO) {
    uint8_t *memory = memory_of(hart, target, size, is_write || is_test);
    if (is_write) memcpy(memory, value, size);
    else memcpy(value, memory, size);
    if (is_test) memset(memory, 0xff, size);
    if (is_write && hart->snitch_core) snitch_tell_host(hart, address, *value);
  } else {
    status = register_access(hart, target, cluster_cycle(hart, hart->now), is_write, value);
  }
  if (status == ACCESS_NOWHERE) return access_nowhere(hart, address, size, is_write);
  if (status != ACCESS_BLOCKED) observe_access(hart, target, size, is_second, is_write, *value);
  if (status == ACCESS_OK) charge(hart, place, cycles, is_write, is_second);
  return status;
}

int access_settle(struct hart *hart, int status) {
  struct platform *platform = hart->platform;
  if (platform->state != RUN_GOING) status = ACCESS_STOP;
  update_device_cycle(platform);
  update_limit(platform);
  return status;
}

int memory_access(struct hart *hart, uint32_t address, uint32_t size, int is_write, uint32_t *value) {
  struct platform *platform = hart->platform;
  uint32_t first = 4 - address % 4, high = is_write ? *value >> (8 * (first % 4)) : 0;
  int status;
  platform->running = hart;
  if (hart->wait.ready) { /* the access that went to sleep is answered now */
    hart->wait.ready = 0;
    *value = hart->wait.value;
    return access_settle(hart, ACCESS_OK);
  }
  if (hart->snitch_core && address % size) {
    status = access_misaligned(hart, address, size, is_write, " at an address that is no multiple of it: these cores trap");
  } else if (size <= first) {
    status = access_part(hart, address, size, 0, is_write, value);
  } else {
    status = check_size(hart, resolve(platform, address, view_of(hart)).window->place, address, size, is_write);
    if (status == ACCESS_OK) status = access_part(hart, address, first, 0, is_write, value);
    if (status == ACCESS_OK) status = access_part(hart, address + first, size - first, 1, is_write, &high);
    if (status == ACCESS_OK && !is_write) *value |= high << (8 * first);
  }
  return access_settle(hart, status);
}
