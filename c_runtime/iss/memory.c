/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <string.h>

#include "iss.h"
#include "scheduler.h"
#include "snitch.h"

enum { CORE_ALIAS_END = 0x400000, TEST_AND_SET = 0x100000, CLUSTER_PERIPHERALS = 0x200000,
       CLUSTER_PERIPHERALS_END = 0x400000 };

enum place { PLACE_L1, PLACE_TEST_AND_SET, PLACE_L2, PLACE_WEIGHT, PLACE_CORE_PORT, PLACE_CLUSTER_REGISTER, PLACE_APB,
             PLACE_NOWHERE };

struct target {
  enum place place;
  uint32_t offset; /* inside the memory, or from the start of the register space */
};

/* What a core without a cluster sees: its memories, and registers of engines wherever they are. */
static struct target resolve_bare(struct platform *platform, uint32_t address) {
  const struct config *config = &platform->config;
  struct target target = {PLACE_NOWHERE, address - (uint32_t)config->memory_l1_base};
  if (target.offset < config->memory_l1_size) {
    target.place = PLACE_L1;
  } else if (address - (uint32_t)config->memory_l2_base < config->memory_l2_size) {
    target.place = PLACE_L2;
    target.offset = address - (uint32_t)config->memory_l2_base;
  } else if (peripheral_at(platform, address)) {
    target.place = PLACE_CLUSTER_REGISTER;
    target.offset -= CLUSTER_PERIPHERALS;
  }
  return target;
}

static struct target resolve(const struct hart *hart, uint32_t address) {
  const struct config *config = &hart->platform->config;
  struct target target = {PLACE_NOWHERE, 0};
  uint32_t offset;
  if (config->bare) return resolve_bare(hart->platform, address);
  if (hart->is_controller) {
    if (address < 0x8000 && address < config->memory_l2_private_bytes) address += (uint32_t)config->memory_l2_base;
  } else if (address < CORE_ALIAS_END) {
    address += (uint32_t)config->memory_l1_base;
  }
  offset = address - (uint32_t)config->memory_l1_base;
  if (offset < config->memory_l1_size) {
    target.place = PLACE_L1;
  } else if (offset - TEST_AND_SET < config->memory_l1_size) {
    target.place = PLACE_TEST_AND_SET;
    offset -= TEST_AND_SET;
  } else if (offset >= CLUSTER_PERIPHERALS && offset < CLUSTER_PERIPHERALS_END) {
    offset -= CLUSTER_PERIPHERALS;
    target.place = offset >= CORE_PORTS && offset < CORE_PORTS_END ? PLACE_CORE_PORT : PLACE_CLUSTER_REGISTER;
  } else if (address - (uint32_t)config->memory_weight_base < config->memory_weight_size) {
    offset = address - (uint32_t)config->memory_weight_base;
    target.place = PLACE_WEIGHT;
  } else if (address - (uint32_t)config->memory_l2_base < config->memory_l2_size) {
    offset = address - (uint32_t)config->memory_l2_base;
    target.place = PLACE_L2;
  } else if (address >= APB_BASE && address < APB_END) {
    offset = address - APB_BASE;
    target.place = PLACE_APB;
  }
  target.offset = offset;
  return target;
}

static uint64_t latency(const struct hart *hart, enum place place) {
  const struct config *config = &hart->platform->config;
  if (hart->is_controller)
    return (uint64_t)(place == PLACE_L2       ? config->memory_l2_controller_latency
                      : place == PLACE_APB    ? config->timing_controller_apb
                      : place == PLACE_WEIGHT ? config->memory_weight_controller_latency
                                              : config->memory_l1_controller_latency);
  switch (place) {
    case PLACE_L2: return (uint64_t)config->memory_l2_latency;
    case PLACE_APB: return (uint64_t)config->timing_apb;
    case PLACE_WEIGHT: return (uint64_t)config->memory_weight_latency;
    case PLACE_CLUSTER_REGISTER: return (uint64_t)config->timing_peripheral;
    default: return 1;
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

static uint8_t *memory_of(struct hart *hart, struct target target, uint32_t size, int is_write) {
  struct platform *platform = hart->platform;
  uint64_t cycle = cluster_cycle(hart, hart->now);
  switch (target.place) {
    case PLACE_L1:
    case PLACE_TEST_AND_SET:
      if (platform->config.memory_l1_conflicts)
        take_bank(hart, platform->l1_bank_free, (uint32_t)platform->config.memory_l1_banks, target.offset);
      if (platform->peripherals.l1_claims)
        check_race(platform, (int)hart->index, TVM_PULP_PORT_L1, target.offset, size, is_write, cycle);
      return platform->l1 + target.offset;
    case PLACE_L2:
      if (platform->config.memory_l2_conflicts)
        take_bank(hart, platform->l2_bank_free, (uint32_t)platform->config.memory_l2_banks, target.offset);
      return platform->l2 + target.offset;
    default:
      if (platform->peripherals.claim_count)
        check_race(platform, (int)hart->index, TVM_PULP_PORT_WEIGHT, target.offset, size, is_write, cycle);
      return platform->weight + target.offset;
  }
}

static int is_memory(enum place place) {
  return place == PLACE_L1 || place == PLACE_TEST_AND_SET || place == PLACE_L2 || place == PLACE_WEIGHT;
}

/* Charge the access; the first cycle of the first access is the instruction itself. */
static void charge(struct hart *hart, enum place place, int is_write, int is_second) {
  uint64_t cycles = latency(hart, place), extra = cycles - (is_second ? 0 : 1);
  int external = place != PLACE_L1 && place != PLACE_TEST_AND_SET && place != PLACE_CORE_PORT &&
                 !(hart->is_controller && place == PLACE_L2);
  hart->now += cycles;
  if (!external) {
    if (is_second) hart->count.misaligned += extra;
    else if (is_write) hart->count.external_store_cycles += extra; /* non-zero for slow tightly coupled memory */
    else hart->count.external_load_cycles += extra;
    return;
  }
  if (is_write) {
    hart->count.external_stores += !is_second;
    hart->count.external_store_cycles += extra;
  } else {
    hart->count.external_loads += !is_second;
    hart->count.external_load_cycles += extra;
  }
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

static int check_register_access(struct hart *hart, uint32_t address, uint32_t size, int is_write) {
  if (size == 4 && address % 4 == 0) return ACCESS_OK;
  return access_misaligned(hart, address, size, is_write, OF_REGISTERS);
}

/* Tell the observer of an access outside the fast path, by its address as the SoC sees it. */
static void observe(struct hart *hart, struct target target, uint32_t size, int is_second, int is_write, uint32_t value) {
  struct platform *platform = hart->platform;
  const struct config *config = &platform->config;
  const uint32_t bases[] = {[PLACE_L1] = (uint32_t)config->memory_l1_base,
                            [PLACE_TEST_AND_SET] = (uint32_t)config->memory_l1_base,
                            [PLACE_L2] = (uint32_t)config->memory_l2_base,
                            [PLACE_WEIGHT] = (uint32_t)config->memory_weight_base,
                            [PLACE_CORE_PORT] = (uint32_t)config->memory_l1_base + CLUSTER_PERIPHERALS,
                            [PLACE_CLUSTER_REGISTER] = (uint32_t)config->memory_l1_base + CLUSTER_PERIPHERALS,
                            [PLACE_APB] = APB_BASE};
  uint32_t address = bases[target.place] + target.offset;
  observer_access(platform, (int)hart->index, address, size, is_write, cluster_cycle(hart, hart->now));
  if (is_write || !is_second) /* a word that is split may reach past the end of a tensor */
    written_access(platform, (int)hart->index, address, size, is_write, cluster_cycle(hart, hart->now));
  if (is_write && !is_memory(target.place)) observer_register(&platform->observer, address, value);
}

/* Inside one aligned word. */
static int access_part(struct hart *hart, uint32_t address, uint32_t size, int is_second, int is_write, uint32_t *value) {
  struct target target = resolve(hart, address);
  int status = ACCESS_OK, is_test = target.place == PLACE_TEST_AND_SET && !is_write;
  if (!is_write) *value = 0;
  if (target.place == PLACE_NOWHERE) return access_nowhere(hart, address, size, is_write);
  if (is_memory(target.place)) {
    uint8_t *memory = memory_of(hart, target, size, is_write || is_test);
    if (is_write) memcpy(memory, value, size);
    else memcpy(value, memory, size);
    if (is_test) memset(memory, 0xff, size);
  } else {
    if (check_register_access(hart, address, size, is_write) != ACCESS_OK) return ACCESS_STOP;
    status = register_access(hart, target.place == PLACE_APB, target.offset, cluster_cycle(hart, hart->now), is_write, value);
    if (status == ACCESS_NOWHERE) return access_nowhere(hart, address, size, is_write);
  }
  if (UNLIKELY(hart->platform->config.observe) && status != ACCESS_BLOCKED)
    observe(hart, target, size, is_second, is_write, *value);
  if (status == ACCESS_OK) charge(hart, target.place, is_write, is_second);
  return status;
}

/* Only memories split an access that crosses a word; a register refuses it as a whole. */
static int check_split(struct hart *hart, uint32_t address, uint32_t size, int is_write) {
  struct target target = resolve(hart, address);
  if (target.place == PLACE_NOWHERE || is_memory(target.place)) return ACCESS_OK;
  return check_register_access(hart, address, size, is_write);
}

int access_settle(struct hart *hart, int status) {
  struct platform *platform = hart->platform;
  if (platform->state != RUN_GOING) status = ACCESS_STOP;
  update_device_cycle(platform);
  update_limit(platform);
  return status;
}

int memory_load(struct hart *hart, uint32_t address, uint32_t size, uint32_t *value) {
  uint32_t first = 4 - address % 4, low, high;
  int status;
  hart->platform->running = hart;
  if (hart->wait.ready) { /* the access that went to sleep is answered now */
    hart->wait.ready = 0;
    *value = hart->wait.value;
    return access_settle(hart, ACCESS_OK);
  }
  if (size <= first) return access_settle(hart, access_part(hart, address, size, 0, 0, value));
  status = check_split(hart, address, size, 0);
  if (status == ACCESS_OK) status = access_part(hart, address, first, 0, 0, &low);
  if (status == ACCESS_OK) status = access_part(hart, address + first, size - first, 1, 0, &high);
  if (status == ACCESS_OK) *value = low | high << (8 * first);
  return access_settle(hart, status);
}

int memory_store(struct hart *hart, uint32_t address, uint32_t size, uint32_t value) {
  uint32_t first = 4 - address % 4, high = size > first ? value >> (8 * first) : 0;
  int status;
  hart->platform->running = hart;
  if (size <= first) return access_settle(hart, access_part(hart, address, size, 0, 1, &value));
  status = check_split(hart, address, size, 1);
  if (status == ACCESS_OK) status = access_part(hart, address, first, 0, 1, &value);
  if (status == ACCESS_OK) status = access_part(hart, address + first, size - first, 1, 1, &high);
  return access_settle(hart, status);
}

int iss_register_space(const struct platform *platform, uint32_t number, uint32_t *base, uint32_t *bytes) {
  if (platform->snitch) return snitch_register_space(platform, number, base, bytes);
  if (number > 1) return -1;
  *base = number ? APB_BASE : (uint32_t)platform->config.memory_l1_base + CLUSTER_PERIPHERALS;
  *bytes = number ? APB_END - APB_BASE : CLUSTER_PERIPHERALS_END - CLUSTER_PERIPHERALS;
  return 0;
}

uint8_t *memory_pointer(struct platform *platform, uint32_t address, uint64_t bytes) {
  const struct config *config = &platform->config;
  uint64_t weight = address - (uint32_t)config->memory_weight_base;
  uint32_t offset, region = region_at(platform, address, bytes, &offset);
  if (region < REGION_COUNT) return platform->region[region].memory + offset;
  if (weight + bytes <= (uint64_t)config->memory_weight_size) return platform->weight + weight;
  return NULL;
}
