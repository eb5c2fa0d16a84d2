/* SPDX-License-Identifier: Apache-2.0
 *
 * The address map of a Snitch cluster, for every access that is not a plain one of L1. */
#include <string.h>

#include "memory.h"
#include "scheduler.h"
#include "snitch.h"

enum { CLUSTER_WINDOW = 0x50000, PERIPHERALS_AT = 0x20000, ZERO_AT = 0x30000, ENGINES_AT = 0x40000,
       ALIAS_DISTANCE = 0x08000000, HTIF_WRITE = 64, HTIF_LONGEST = 0x10000 };
#define CLINT 0xffff0000u

enum place { PLACE_NOWHERE, PLACE_L1, PLACE_REGISTER, PLACE_ZERO, PLACE_ENGINE, PLACE_OUTSIDE, PLACE_CLINT };

static enum place resolve(const struct platform *platform, uint32_t address, uint32_t *offset) {
  const struct config *config = &platform->config;
  uint32_t inside = address - (uint32_t)config->l1_base;
  if (inside - ALIAS_DISTANCE < CLUSTER_WINDOW) inside -= ALIAS_DISTANCE;
  *offset = inside;
  if (inside < config->l1_size) return PLACE_L1;
  if (inside < CLUSTER_WINDOW) {
    if (inside >= ENGINES_AT) return PLACE_ENGINE;
    if (inside >= ZERO_AT) return PLACE_ZERO;
    *offset = inside - PERIPHERALS_AT;
    return inside >= PERIPHERALS_AT ? PLACE_REGISTER : PLACE_NOWHERE;
  }
  *offset = address - (uint32_t)config->l2_base;
  if (*offset < config->l2_size) return PLACE_OUTSIDE;
  return address - CLINT < 4 ? PLACE_CLINT : PLACE_NOWHERE;
}

/* The zero memory is read by the DMA; nothing is ever written to it. */
static uint8_t zeros[0x10000];

uint8_t *snitch_memory(struct platform *platform, uint32_t address, uint64_t bytes, int is_write) {
  const struct config *config = &platform->config;
  uint32_t offset;
  switch (resolve(platform, address, &offset)) {
    case PLACE_L1: return offset + bytes <= (uint64_t)config->l1_size ? platform->l1 + offset : NULL;
    case PLACE_OUTSIDE: return offset + bytes <= (uint64_t)config->l2_size ? platform->l2 + offset : NULL;
    case PLACE_ZERO: return !is_write && offset - ZERO_AT + bytes <= sizeof zeros ? zeros + (offset - ZERO_AT) : NULL;
    default: return NULL;
  }
}

/* All banks of an accelerator's access serve it in the same cycle; those that could serve it earlier did so in vain. */
uint64_t snitch_take_banks(struct platform *platform, uint32_t address, uint32_t bytes, uint64_t cycle) {
  struct snitch *snitch = platform->snitch;
  uint32_t mask = (uint32_t)platform->config.l1_banks - 1, first = address >> 3, last = (address + bytes - 1) >> 3;
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

static int nowhere(struct hart *hart, uint32_t address, uint32_t size, int is_write) {
  platform_fault(hart->platform, FAULT_ACCESS, hart, address, "%s of %u byte(s) at an address where nothing is mapped",
                 is_write ? "store" : "load", (unsigned)size);
  return ACCESS_STOP;
}

static int refuse(struct hart *hart, uint32_t address, uint32_t size, int is_write, const char *reason) {
  platform_fault(hart->platform, FAULT_MISALIGNED, hart, address, "%s of %u byte(s)%s", is_write ? "store" : "load",
                 (unsigned)size, reason);
  return ACCESS_STOP;
}

static int check(struct hart *hart, enum place place, uint32_t address, uint32_t size, int is_write) {
  if (place == PLACE_NOWHERE) return nowhere(hart, address, size, is_write);
  if (address % size)
    return refuse(hart, address, size, is_write, " at an address that is no multiple of it: these cores trap");
  if (size != 4 && (place == PLACE_REGISTER || place == PLACE_ENGINE || place == PLACE_CLINT))
    return refuse(hart, address, size, is_write, " to a register, which takes aligned 32-bit accesses only");
  return ACCESS_OK;
}

/* When an access of L1 is answered. */
static uint64_t ask_l1(struct hart *hart, uint32_t offset, uint32_t size, int is_write) {
  struct platform *platform = hart->platform;
  struct snitch_core *core = &platform->snitch->core[hart->index];
  uint64_t asked = core->port_free > hart->now ? core->port_free : hart->now;
  uint64_t served = snitch_take_bank(platform, offset, asked);
  if (platform->peripherals.l1_claims)
    check_race(platform, (int)hart->index, TVM_PULP_PORT_L1, offset, size, is_write, hart->now);
  core->congested += served - asked;
  core->port_free = served + 1;
  return served + (uint64_t)platform->config.load_distance;
}

static int settle(struct hart *hart, int status) {
  struct platform *platform = hart->platform;
  if (platform->state != RUN_GOING) status = ACCESS_STOP;
  update_device_cycle(platform);
  update_limit(platform);
  return status;
}

static struct peripheral *engine_at(struct platform *platform, uint32_t offset, uint32_t *inside) {
  uint32_t address = (uint32_t)platform->config.l1_base + offset;
  struct peripheral *found = peripheral_at(platform, address);
  if (found) *inside = address - found->base;
  return found;
}

static int load(struct hart *hart, uint32_t address, uint32_t size, uint32_t *value, uint64_t *answer) {
  struct platform *platform = hart->platform;
  const struct config *config = &platform->config;
  uint32_t offset, inside;
  enum place place = resolve(platform, address, &offset);
  struct peripheral *engine;
  int status = check(hart, place, address, size, 0);
  *value = 0;
  if (status != ACCESS_OK) return status;
  if (place != PLACE_L1) hart->count.external_loads++;
  switch (place) {
    case PLACE_L1:
      memcpy(value, platform->l1 + offset, size);
      *answer = ask_l1(hart, offset, size, 0);
      return ACCESS_OK;
    case PLACE_REGISTER:
      *answer = hart->now + (uint64_t)config->core_peripheral_cycles;
      status = snitch_register_read(hart, offset, hart->now, value);
      return status == ACCESS_NOWHERE ? nowhere(hart, address, size, 0) : status;
    case PLACE_ENGINE:
      engine = engine_at(platform, offset, &inside);
      if (!engine) return nowhere(hart, address, size, 0);
      *answer = hart->now + (uint64_t)config->engine_load_distance;
      *value = engine->model->read(engine->self, inside, hart->index, hart->now);
      return ACCESS_OK;
    case PLACE_CLINT: *value = platform->snitch->software_interrupts; break;
    case PLACE_OUTSIDE:
      if (offset + size > config->l2_size) return nowhere(hart, address, size, 0);
      memcpy(value, platform->l2 + offset, size);
      break;
    default: break;
  }
  *answer = hart->now + (uint64_t)config->core_l2_cycles;
  return ACCESS_OK;
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
    platform->exit_code = value >> 1;
    platform->state = RUN_EXIT;
    return;
  }
  words = snitch_memory(platform, value, sizeof call, 0);
  if (words) memcpy(call, words, sizeof call);
  text = words && call[0] == HTIF_WRITE && call[6] <= HTIF_LONGEST ? snitch_memory(platform, call[4], call[6], 0) : NULL;
  if (!text) {
    platform_fault(platform, FAULT_PERIPHERAL, hart, value, "tohost takes exit codes and calls that print, no others");
    return;
  }
  for (uint32_t i = 0; i < call[6]; i++) output_character(&platform->output, 0, hart->index & 15, (char)text[i]);
  if (answer) memcpy(answer, &one, 4);
}

static void set_software_interrupts(struct hart *hart, uint32_t value) {
  struct platform *platform = hart->platform;
  platform->snitch->software_interrupts = value;
  for (uint32_t i = 0; i < platform->hart_count; i++)
    snitch_interrupt(platform, i, 3, (int)(value >> i & 1), hart->now);
}

static int store(struct hart *hart, uint32_t address, uint32_t size, uint32_t value, uint64_t *answer) {
  struct platform *platform = hart->platform;
  const struct config *config = &platform->config;
  struct snitch_core *core = &platform->snitch->core[hart->index];
  uint32_t offset, inside;
  enum place place = resolve(platform, address, &offset);
  struct peripheral *engine;
  uint64_t interval = (uint64_t)config->engine_store_interval;
  int status = check(hart, place, address, size, 1);
  if (status != ACCESS_OK) return status;
  if (place != PLACE_L1) hart->count.external_stores++;
  *answer = hart->now + (uint64_t)config->core_l2_cycles;
  switch (place) {
    case PLACE_L1:
      *answer = ask_l1(hart, offset, size, 1);
      memcpy(platform->l1 + offset, &value, size);
      return ACCESS_OK;
    case PLACE_REGISTER:
      *answer = hart->now + (uint64_t)config->core_peripheral_cycles;
      status = snitch_register_write(hart, offset, hart->now, value);
      return status == ACCESS_NOWHERE ? nowhere(hart, address, size, 1) : status;
    case PLACE_ENGINE: /* one after the other */
      engine = engine_at(platform, offset, &inside);
      if (!engine) return nowhere(hart, address, size, 1);
      core->engine_free = (core->engine_free > hart->now ? core->engine_free : hart->now) + interval;
      *answer = core->engine_free;
      engine->model->write(engine->self, inside, value, hart->index, hart->now);
      return ACCESS_OK;
    case PLACE_CLINT: set_software_interrupts(hart, value); return ACCESS_OK;
    case PLACE_OUTSIDE:
      if (offset + size > config->l2_size) return nowhere(hart, address, size, 1);
      memcpy(platform->l2 + offset, &value, size);
      if (address == platform->snitch->tohost && address) tell_host(hart, value);
      return ACCESS_OK;
    default: return ACCESS_OK;
  }
}

int snitch_load(struct hart *hart, uint32_t address, uint32_t size, uint32_t *value, uint64_t *answer) {
  hart->platform->running = hart;
  return settle(hart, load(hart, address, size, value, answer));
}

int snitch_store(struct hart *hart, uint32_t address, uint32_t size, uint32_t value, uint64_t *answer) {
  hart->platform->running = hart;
  return settle(hart, store(hart, address, size, value, answer));
}

static uint32_t combine(uint32_t op, uint32_t old, uint32_t operand) {
  switch (op) {
    case SNITCH_OP_amoadd_w: return old + operand;
    case SNITCH_OP_amoxor_w: return old ^ operand;
    case SNITCH_OP_amoand_w: return old & operand;
    case SNITCH_OP_amoor_w: return old | operand;
    case SNITCH_OP_amomin_w: return (int32_t)old < (int32_t)operand ? old : operand;
    case SNITCH_OP_amomax_w: return (int32_t)old > (int32_t)operand ? old : operand;
    case SNITCH_OP_amominu_w: return old < operand ? old : operand;
    case SNITCH_OP_amomaxu_w: return old > operand ? old : operand;
    default: return operand;
  }
}

/* A reservation is lost when anyone's atomic changes the word. */
static void drop_reservations(struct platform *platform, uint32_t address) {
  for (uint32_t i = 0; i < platform->hart_count; i++)
    if (platform->snitch->core[i].reserved == address) platform->snitch->core[i].reserved = 0;
}

int snitch_atomic(struct hart *hart, uint32_t op, uint32_t address, uint32_t operand, uint32_t *value,
                  uint64_t *answer) {
  struct platform *platform = hart->platform;
  struct snitch_core *core = &platform->snitch->core[hart->index];
  uint8_t *memory = address % 4 ? NULL : snitch_memory(platform, address, 4, 1);
  uint32_t offset, result;
  int is_store = op != SNITCH_OP_lr_w, succeeds = op != SNITCH_OP_sc_w || core->reserved == address;
  platform->running = hart;
  if (!memory) return settle(hart, address % 4 ? refuse(hart, address, 4, 1, " that is atomic and not aligned")
                                               : nowhere(hart, address, 4, 1));
  if (resolve(platform, address, &offset) == PLACE_L1) {
    *answer = ask_l1(hart, offset, 4, is_store) + (uint64_t)platform->config.atomic_cycles;
    platform->snitch->bank_free[offset >> 3 & ((uint32_t)platform->config.l1_banks - 1)] +=
        (uint64_t)platform->config.atomic_cycles;
  } else {
    *answer = hart->now + (uint64_t)(platform->config.core_l2_cycles + platform->config.atomic_cycles);
  }
  memcpy(value, memory, 4);
  result = combine(op, *value, operand);
  if (op == SNITCH_OP_sc_w) *value = !succeeds;
  if (op == SNITCH_OP_lr_w) {
    core->reserved = address;
  } else if (succeeds) {
    drop_reservations(platform, address);
    memcpy(memory, &result, 4);
  }
  if (op == SNITCH_OP_sc_w) core->reserved = 0;
  return settle(hart, ACCESS_OK);
}
