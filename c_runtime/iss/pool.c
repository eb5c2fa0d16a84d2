/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tiles share: ways to banks, control registers, wake-ups, and the places of cores. */
#include "pool.h"

#include <stdlib.h>

#include "memory.h"

enum { END_OF_COMPUTATION = 0x00, WAKE_UP = 0x04, WAKE_UP_TILE = 0x08, WAKE_UP_GROUP = 0x28, WAKE_UP_STRIDE = 0x2c,
       WAKE_UP_OFFSET = 0x30, FACTS = 0x34, CACHE_ENABLE = 0x40, CACHE_FLUSH = 0x44, CACHE_RANGES = 0x48,
       CACHE_RANGES_END = 0x68, FACTS_WITHOUT_MASKS = 0x08, L2_CODE_RANGE = 0x1000,
       DMA_REGISTERS = 0x10000 };

static uint32_t log2_of(uint32_t value) { return (uint32_t)__builtin_ctz(value); }

static void place_cores(struct platform *platform) {
  struct pool *pool = platform->pool;
  for (uint32_t i = 0; i < platform->hart_count; i++) {
    uint32_t tile = i / pool->tile_cores, group = tile / pool->core_tiles;
    pool->tile_of[i] = (uint8_t)(group * pool->group_tiles + tile % pool->core_tiles);
    pool->group_of[i] = (uint8_t)group;
  }
}

int pool_create(struct platform *platform) {
  const struct config *config = &platform->config;
  size_t lines = (size_t)(config->tiles_groups * config->tiles_code_sets * config->tiles_code_ways);
  struct pool *pool = platform->pool = calloc(1, sizeof *platform->pool);
  if (!pool) return -1;
  pool->tile_cores = (uint32_t)config->tiles_cores;
  pool->tile_banks = (uint32_t)config->tiles_banks;
  pool->groups = (uint32_t)config->tiles_groups;
  pool->tiles = (uint32_t)config->memory_l1_banks / pool->tile_banks;
  pool->group_tiles = pool->tiles / pool->groups;
  pool->core_tiles = (uint32_t)config->cluster_cores / pool->tile_cores / pool->groups;
  pool->bank_shift = log2_of(pool->tile_banks);
  pool->tile_shift = log2_of(pool->tiles);
  pool->group_shift = log2_of(pool->group_tiles);
  pool->sequential_shift = log2_of(pool->tile_cores * (uint32_t)config->tiles_sequential_bytes);
  pool->sequential_end = pool->tiles << pool->sequential_shift;
  pool->wake_stride = pool->cache_enabled = 1;
  pool->cache_range[0] = (uint32_t)config->memory_l2_base;
  pool->cache_range[4] = (uint32_t)config->memory_l2_base + L2_CODE_RANGE;
  pool->code_tags = calloc(lines, sizeof *pool->code_tags);
  pool->code_ready = calloc(lines, sizeof *pool->code_ready);
  place_cores(platform);
  return pool->code_tags && pool->code_ready ? 0 : -1;
}

void pool_destroy(struct platform *platform) {
  if (!platform->pool) return;
  free(platform->pool->code_tags);
  free(platform->pool->code_ready);
  free(platform->pool);
}

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

/* A pulse that finds its core awake counts for its next wfi; the counter has three bits. */
static void wake(struct platform *platform, uint32_t index, uint64_t cycle) {
  struct pool *pool = platform->pool;
  struct hart *hart = &platform->harts[index];
  if (index < pool->wake_offset || (index - pool->wake_offset) % pool->wake_stride) return;
  if (hart->state == HART_ASLEEP && hart->wait.kind == WAIT_INTERRUPT && !hart->wait.ready) {
    hart->wait.ready = 1;
    hart_wake(hart, cycle + (uint64_t)platform->config.events_wake);
  } else if (pool->wake_ups[index] < POOL_WAKE_UPS) {
    pool->wake_ups[index]++;
  }
}

static void wake_tiles(struct hart *hart, uint32_t group, uint32_t mask) {
  const struct pool *pool = hart->platform->pool;
  for (uint32_t i = 0; i < hart->platform->hart_count; i++)
    if (pool->group_of[i] == group && mask >> (pool->tile_of[i] % pool->group_tiles) & 1) wake(hart->platform, i, hart->now);
}

static void wake_by_number(struct hart *hart, uint32_t number) {
  struct platform *platform = hart->platform;
  if (number < platform->hart_count) wake(platform, number, hart->now);
  else
    for (uint32_t i = 0; i < platform->hart_count; i++) wake(platform, i, hart->now);
}

/* Start and end of L1 and the number of cores, which cannot be written; then what caches were told, kept and no more. */
static int control_access(struct hart *hart, uint32_t offset, int is_write, uint32_t *value) {
  struct platform *platform = hart->platform;
  struct pool *pool = platform->pool;
  uint32_t base = (uint32_t)platform->config.memory_l1_base, end = base + (uint32_t)platform->config.memory_l1_size;
  uint32_t facts = platform->config.tiles_wake_masks ? FACTS : FACTS_WITHOUT_MASKS;
  if (!is_write && offset >= facts && offset < facts + 12) {
    *value = offset == facts ? base : offset == facts + 4 ? end : platform->hart_count;
    return ACCESS_OK;
  }
  if (offset <= WAKE_UP) {
    if (is_write && offset == WAKE_UP) wake_by_number(hart, *value);
    else if (is_write && (*value & 1)) platform_exit(platform, *value >> 1, hart->now);
    return ACCESS_OK;
  }
  if (!platform->config.tiles_wake_masks || offset >= CACHE_RANGES_END) return ACCESS_NOWHERE;
  if (offset >= CACHE_RANGES) return register_word(&pool->cache_range[(offset - CACHE_RANGES) / 4], is_write, value);
  if (offset == WAKE_UP_OFFSET) return register_word(&pool->wake_offset, is_write, value);
  if (offset == CACHE_ENABLE) {
    if (is_write) pool->cache_enabled = *value & 1;
    else *value = pool->cache_enabled;
  } else if (offset == WAKE_UP_STRIDE) {
    if (is_write) pool->wake_stride = *value ? *value : 1;
    else *value = pool->wake_stride;
  } else if (is_write && offset < WAKE_UP_TILE + 4 * POOL_GROUPS) {
    wake_tiles(hart, (offset - WAKE_UP_TILE) / 4, *value);
  } else if (is_write && offset == WAKE_UP_GROUP) {
    for (uint32_t group = 0; group < pool->groups; group++) wake_tiles(hart, group, *value >> group & 1 ? ~0u : 0);
  } else if (is_write && offset != CACHE_FLUSH) {
    return ACCESS_NOWHERE;
  }
  return ACCESS_OK;
}

int pool_register_access(struct hart *hart, uint32_t offset, int is_write, uint32_t *value) {
  if (offset >= DMA_REGISTERS) return pool_dma_access(hart, offset - DMA_REGISTERS, is_write, value);
  return control_access(hart, offset, is_write, value);
}
