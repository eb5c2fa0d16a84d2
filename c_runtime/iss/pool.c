/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tiles share besides memory: control registers, wake-ups, and the places of cores. */
#include "pool.h"

#include <stdlib.h>

#include "memory.h"

enum { END_OF_COMPUTATION = 0x00, WAKE_UP = 0x04, WAKE_UP_TILE = 0x08, WAKE_UP_GROUP = 0x28, WAKE_UP_STRIDE = 0x2c,
       WAKE_UP_OFFSET = 0x30, FACTS = 0x34, CACHE_ENABLE = 0x40, CACHE_FLUSH = 0x44, CACHE_RANGES = 0x48,
       CACHE_RANGES_END = 0x68, FACTS_WITHOUT_MASKS = 0x08, L2_CODE_RANGE = 0x1000 };

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
  pool->words = (platform->hart_count + 63) / 64;
  if (config->timing_rotating_priority)
    while (pool->turn_mask + 1 < platform->hart_count && pool->turn_mask < 63) pool->turn_mask = 2 * pool->turn_mask + 1;
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

int pool_wait_for_wake_up(struct hart *hart) {
  struct pool *pool = hart->platform->pool;
  if (hart->wait.ready) {
    hart->wait.ready = 0;
    return ACCESS_OK;
  }
  if (pool->wake_ups[hart->index]) {
    pool->wake_ups[hart->index]--;
    return ACCESS_OK;
  }
  hart->wait.kind = WAIT_INTERRUPT;
  hart_sleep(hart);
  return ACCESS_SLEEP;
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

/* Start and end of L1 and the number of cores, which cannot be written. */
static int read_fact(const struct platform *platform, uint32_t number, uint32_t *value) {
  uint32_t base = (uint32_t)platform->config.memory_l1_base;
  *value = number == 0 ? base : number == 1 ? base + (uint32_t)platform->config.memory_l1_size : platform->hart_count;
  return ACCESS_OK;
}

int pool_register_read(struct hart *hart, uint32_t offset, uint32_t *value) {
  const struct pool *pool = hart->platform->pool;
  uint32_t facts = hart->platform->config.tiles_wake_masks ? FACTS : FACTS_WITHOUT_MASKS;
  *value = 0;
  if (offset >= facts && offset < facts + 12) return read_fact(hart->platform, (offset - facts) / 4, value);
  if (offset <= WAKE_UP) return ACCESS_OK;
  if (!hart->platform->config.tiles_wake_masks || offset >= CACHE_RANGES_END) return ACCESS_NOWHERE;
  if (offset >= CACHE_RANGES) *value = pool->cache_range[(offset - CACHE_RANGES) / 4];
  else if (offset == CACHE_ENABLE) *value = pool->cache_enabled;
  else if (offset == WAKE_UP_STRIDE) *value = pool->wake_stride;
  else if (offset == WAKE_UP_OFFSET) *value = pool->wake_offset;
  return ACCESS_OK;
}

int pool_register_write(struct hart *hart, uint32_t offset, uint32_t value) {
  struct platform *platform = hart->platform;
  struct pool *pool = platform->pool;
  if (offset == END_OF_COMPUTATION) {
    if (value & 1) platform_exit(platform, value >> 1, hart->now);
    return ACCESS_OK;
  }
  if (offset == WAKE_UP) {
    wake_by_number(hart, value);
    return ACCESS_OK;
  }
  if (!platform->config.tiles_wake_masks || offset >= CACHE_RANGES_END) return ACCESS_NOWHERE;
  if (offset >= CACHE_RANGES) pool->cache_range[(offset - CACHE_RANGES) / 4] = value;
  else if (offset == CACHE_ENABLE) pool->cache_enabled = value & 1;
  else if (offset == WAKE_UP_STRIDE) pool->wake_stride = value ? value : 1;
  else if (offset == WAKE_UP_OFFSET) pool->wake_offset = value;
  else if (offset >= WAKE_UP_TILE && offset < WAKE_UP_TILE + 4 * POOL_GROUPS)
    wake_tiles(hart, (offset - WAKE_UP_TILE) / 4, value);
  else if (offset == WAKE_UP_GROUP)
    for (uint32_t group = 0; group < pool->groups; group++) wake_tiles(hart, group, value >> group & 1 ? ~0u : 0);
  else if (offset != CACHE_FLUSH) return ACCESS_NOWHERE;
  return ACCESS_OK;
}
