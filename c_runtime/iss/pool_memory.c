/* SPDX-License-Identifier: Apache-2.0
 *
 * The address map of a pool of tiles, for every access that is not a plain one of L1. */
#include "pool.h"

#include <string.h>

#include "memory.h"
#include "snitch_access.h"

#define REGISTERS 0x40000000u
#define DMA_REGISTERS 0x40010000u
#define CONSOLE 0xc0000000u

enum { REGISTER_BYTES = 0x10000 };

uint64_t pool_take_behind(struct pool_slots *slots, uint64_t now, uint64_t cycle) {
  uint64_t shift = now - slots->base, known = slots->base + 64, ahead = cycle - now, taken;
  if (now < slots->base) shift = 0, now = slots->base, ahead = cycle > now ? cycle - now : 0;
  if (shift) {
    slots->taken = shift < 64 ? slots->taken >> shift : 0;
    if (slots->end > known && slots->end > now) { /* cycles that come into sight, all of them taken */
      uint64_t first = known > now ? known - now : 0, last = slots->end - now;
      slots->taken |= ~0ull << first & (last < 64 ? (1ull << last) - 1 : ~0ull);
    }
    slots->base = now;
  }
  taken = ahead < 64 ? slots->taken | ((1ull << ahead) - 1) : ~0ull;
  if (~taken) {
    ahead = (uint64_t)__builtin_ctzll(~taken);
    slots->taken |= 1ull << ahead;
    cycle = now + ahead;
  } else { /* behind what is in sight: one after the other */
    if (cycle < now + 64) cycle = now + 64;
    if (cycle < slots->end) cycle = slots->end;
  }
  if (cycle >= slots->end) slots->end = cycle + 1;
  return cycle;
}

/* Registers of the control block with accelerators, and of the DMA. */
int pool_register_space(const struct platform *platform, uint32_t number, uint32_t *base, uint32_t *bytes) {
  (void)platform;
  if (number > 0) return -1;
  *base = REGISTERS;
  *bytes = 2 * REGISTER_BYTES;
  return 0;
}

/* All banks of an accelerator's access serve it, each as soon as it can. */
uint64_t pool_take_banks(struct platform *platform, uint32_t address, uint32_t bytes, uint64_t cycle) {
  struct pool *pool = platform->pool;
  uint32_t mask = (uint32_t)platform->config.memory_l1_banks - 1;
  uint64_t latest = cycle;
  for (uint32_t offset = address & ~3u; offset < address + bytes; offset += 4) {
    uint64_t served = pool_take(&pool->bank[pool_scramble(pool, offset) >> 2 & mask], cycle, cycle);
    if (served > latest) latest = served;
  }
  platform->peripherals.conflict_cycles += latest - cycle;
  return latest - cycle;
}

static int check(struct hart *hart, uint32_t address, uint32_t size, int is_write, int is_register) {
  if (address % size)
    return snitch_misaligned(hart, address, size, is_write, " at an address that is no multiple of it: these cores trap");
  if (size != 4 && is_register)
    return snitch_misaligned(hart, address, size, is_write, " to a register, which takes aligned 32-bit accesses only");
  return ACCESS_OK;
}

static int is_l1(const struct platform *platform, uint32_t offset, uint32_t size) {
  return (uint64_t)offset + size <= (uint64_t)platform->config.memory_l1_size;
}

static int load(struct hart *hart, uint32_t address, uint32_t size, uint32_t *value, uint64_t *answer) {
  struct platform *platform = hart->platform;
  const struct config *config = &platform->config;
  uint32_t offset = address - (uint32_t)config->memory_l1_base, outside = address - (uint32_t)config->memory_l2_base;
  struct peripheral *engine = peripheral_at(platform, address);
  int status = check(hart, address, size, 0, address - REGISTERS < 2 * REGISTER_BYTES);
  *value = 0;
  if (status != ACCESS_OK) return status;
  if (is_l1(platform, offset, size)) {
    memcpy(value, platform->l1 + offset, size);
    (void)pool_ask(platform, hart->index, offset, hart->now, answer);
    return ACCESS_OK;
  }
  hart->count.external_loads++;
  *answer = hart->now + (uint64_t)config->timing_peripheral;
  if ((uint64_t)outside + size <= (uint64_t)config->memory_l2_size) {
    memcpy(value, platform->l2 + outside, size);
    *answer = hart->now + (uint64_t)config->memory_l2_latency;
    return ACCESS_OK;
  }
  status = ACCESS_NOWHERE;
  if (engine) {
    if (peripherals_next(platform) <= hart->now) peripherals_advance(platform, hart->now);
    *value = engine->model->read(engine->self, address - engine->base, hart->index, hart->now);
    return ACCESS_OK;
  }
  if (address - REGISTERS < REGISTER_BYTES) status = pool_register_read(hart, address - REGISTERS, value);
  if (address - DMA_REGISTERS < REGISTER_BYTES) status = pool_dma_read(hart, address - DMA_REGISTERS, value);
  return status == ACCESS_NOWHERE ? access_nowhere(hart, address, size, 0) : status;
}

static int put_character(struct hart *hart, uint32_t value) {
  struct output *output = &hart->platform->output;
  output_character(output, hart->index / 16, hart->index % 16, (char)value);
  if (output_is_full(output))
    platform_fault(hart->platform, FAULT_PERIPHERAL, hart, 0, "the program has printed more than 64 MiB");
  return ACCESS_OK;
}

static int store(struct hart *hart, uint32_t address, uint32_t size, uint32_t value, uint64_t *answer) {
  struct platform *platform = hart->platform;
  const struct config *config = &platform->config;
  uint32_t offset = address - (uint32_t)config->memory_l1_base, outside = address - (uint32_t)config->memory_l2_base;
  struct peripheral *engine = peripheral_at(platform, address);
  int status = check(hart, address, size, 1, address - REGISTERS < 2 * REGISTER_BYTES);
  if (status != ACCESS_OK) return status;
  if (is_l1(platform, offset, size)) {
    memcpy(platform->l1 + offset, &value, size);
    (void)pool_ask(platform, hart->index, offset, hart->now, answer);
    return ACCESS_OK;
  }
  hart->count.external_stores++;
  *answer = hart->now + (uint64_t)config->timing_peripheral;
  if ((uint64_t)outside + size <= (uint64_t)config->memory_l2_size) {
    memcpy(platform->l2 + outside, &value, size);
    *answer = hart->now + (uint64_t)config->memory_l2_latency;
    return ACCESS_OK;
  }
  if (address == CONSOLE) return put_character(hart, value);
  status = ACCESS_NOWHERE;
  if (engine) {
    if (peripherals_next(platform) <= hart->now) peripherals_advance(platform, hart->now);
    engine->model->write(engine->self, address - engine->base, value, hart->index, hart->now);
    return ACCESS_OK;
  }
  if (address - REGISTERS < REGISTER_BYTES) status = pool_register_write(hart, address - REGISTERS, value);
  if (address - DMA_REGISTERS < REGISTER_BYTES) status = pool_dma_write(hart, address - DMA_REGISTERS, value);
  return status == ACCESS_NOWHERE ? access_nowhere(hart, address, size, 1) : status;
}

int pool_load(struct hart *hart, uint32_t address, uint32_t size, uint32_t *value, uint64_t *answer) {
  int status;
  hart->platform->running = hart;
  status = load(hart, address, size, value, answer);
  if (status == ACCESS_OK) snitch_observe(hart, address, size, 0, 0);
  return access_settle(hart, status);
}

int pool_store(struct hart *hart, uint32_t address, uint32_t size, uint32_t value, uint64_t *answer) {
  int status;
  hart->platform->running = hart;
  status = store(hart, address, size, value, answer);
  if (status == ACCESS_OK) snitch_observe(hart, address, size, 1, value);
  return access_settle(hart, status);
}
