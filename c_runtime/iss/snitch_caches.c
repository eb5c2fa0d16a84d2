/* SPDX-License-Identifier: Apache-2.0
 *
 * Instruction caches: a few lines for each core, with the next line asked for ahead, in front of a cache of all cores.
 * Lines have 32 bytes. A miss of the shared cache also brings the line behind it. In a pool every tile has a shared cache,
 * behind which each group has one with lines twice as long. */
#include "pool.h"
#include "snitch.h"

/* When the cache of a group has a line, from `cycle` on; asks L2 for it where it is missing. */
static uint64_t ask_group(struct platform *platform, uint32_t group, uint32_t global, uint64_t cycle) {
  const struct config *config = &platform->config;
  struct pool *pool = platform->pool;
  uint32_t ways = (uint32_t)config->tiles_code_ways, sets = (uint32_t)config->tiles_code_sets;
  uint32_t tag = global / 2 + 1, place = (group * sets + (tag - 1) % sets) * ways;
  uint64_t ready = cycle;
  for (uint32_t way = place; way < place + ways; way++)
    if (pool->code_tags[way] == tag) return pool->code_ready[way] > ready ? pool->code_ready[way] : ready;
  place += pool->code_turn++ % ways;
  pool->code_tags[place] = tag;
  return pool->code_ready[place] = cycle + (uint64_t)config->tiles_code_refill;
}

/* When a line of the shared cache can be read, from `cycle` on; asks the memory for it where it is missing. */
static uint64_t look_up(struct platform *platform, struct hart *hart, uint32_t global, uint64_t cycle) {
  const struct config *config = &platform->config;
  struct shared_cache *cache = &platform->shared_cache;
  const struct pool *pool = platform->pool;
  uint32_t ways = (uint32_t)config->icache_shared_ways, sets = (uint32_t)config->icache_shared_sets;
  uint32_t place = ((pool ? pool->tile_of[hart->index] * sets : 0) + global % sets) * ways;
  for (uint32_t way = place; way < place + ways; way++)
    if (cache->tags[way] == global + 1) return cache->ready[way] > cycle ? cache->ready[way] : cycle;
  place += platform->snitch->l1_turn++ % ways;
  cache->tags[place] = global + 1;
  if (pool) cycle = ask_group(platform, pool->group_of[hart->index], global, cycle);
  cache->ready[place] = cycle + (uint64_t)config->icache_refill;
  return cache->ready[place];
}

uint64_t snitch_fetch(struct hart *hart, uint32_t line, uint32_t count, uint64_t cycle, int jumped) {
  struct platform *platform = hart->platform;
  const struct config *config = &platform->config;
  struct snitch_core *core = &platform->snitch->core[hart->index];
  uint32_t first = cache_line(platform, hart->region, 0);
  uint64_t stall = 0;
  for (uint32_t i = line; i < line + count; i++) {
    uint32_t global = first + i;
    uint64_t start = cycle + stall, there;
    if (hart->resident_bits[hart->region][i / 8] >> (i % 8) & 1) continue;
    core->l0_misses++;
    there = look_up(platform, hart, global, start);
    if (there > start) look_up(platform, hart, global + 1, there);
    stall = there - cycle + (uint64_t)(jumped && i == line ? config->scoreboard_jump_line : config->scoreboard_next_line);
    cache_install(hart, hart->cache_random++ % hart->cache_ways, global); /* oldest first out */
  }
  hart->count.icache += stall;
  return stall;
}
