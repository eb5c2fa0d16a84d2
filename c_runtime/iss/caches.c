/* SPDX-License-Identifier: Apache-2.0
 *
 * Instruction caches: a private L0 per cluster core in front of one shared cache, and one cache for the controller.
 * Only tags and times are kept. Each hart has a bit per line of code memory that says "in my innermost cache", so
 * the interpreter tests a whole straight-line block with one mask. */
#include <stdlib.h>
#include <string.h>

#include "platform.h"

/* Lines of all regions in one number space, so that a tag names a line uniquely. */
uint32_t cache_line(const struct platform *platform, uint32_t region, uint32_t line) {
  return region == REGION_L1 ? line : platform->region[REGION_L1].bytes / (2 * platform->line_slots) + line;
}

/* The way to replace: eight-bit shift register with inverted feedback from bits 7, 3, 2 and 1, stepped by each refill.
 * Ways that are still empty are not preferred. */
static uint32_t next_way(uint8_t *state, uint32_t ways) {
  uint32_t old = *state, feedback = ~(old >> 7 ^ old >> 3 ^ old >> 2 ^ old >> 1) & 1;
  *state = (uint8_t)(old << 1 | feedback);
  return (uint32_t)(*state >> 1) % ways;
}

enum { LINE_INSTRUCTIONS = 4 }; /* at least; about the cycles from line to line */

static size_t resident_bytes(const struct platform *platform, uint32_t region) {
  return platform->region[region].bytes / (2 * platform->line_slots) / 8 + 16;
}

/* Of all caches that several cores share: one, or one of each tile. */
static size_t shared_lines(const struct platform *platform) {
  const struct config *config = &platform->config;
  int64_t caches = config->core_is_pool ? config->memory_l1_banks / config->tiles_banks : 1;
  return (size_t)(caches * config->icache_shared_sets * config->icache_shared_ways);
}

void caches_create(struct platform *platform) {
  const struct config *config = &platform->config;
  size_t shared = shared_lines(platform);
  platform->shared_cache.tags = calloc(shared, sizeof(uint32_t));
  platform->shared_cache.ready = calloc(shared, sizeof(uint64_t));
  for (uint32_t i = 0; i < platform->hart_count; i++) {
    struct hart *hart = &platform->harts[i];
    hart->cache_sets = (uint32_t)(hart->is_controller ? config->icache_controller_sets : config->icache_private_sets);
    hart->cache_ways = (uint32_t)(hart->is_controller ? config->icache_controller_ways : config->icache_private_ways);
    hart->cache_tags = calloc((size_t)hart->cache_sets * hart->cache_ways, sizeof(uint32_t));
    for (uint32_t r = 0; r < REGION_COUNT; r++)
      hart->resident_bits[r] = calloc(1, resident_bytes(platform, r));
  }
  caches_refresh(platform);
}

void caches_destroy(struct platform *platform) {
  free(platform->shared_cache.tags);
  free(platform->shared_cache.ready);
  for (uint32_t i = 0; i < platform->hart_count; i++) {
    free(platform->harts[i].cache_tags);
    for (uint32_t r = 0; r < REGION_COUNT; r++) free(platform->harts[i].resident_bits[r]);
  }
}

static void clear_hart(struct platform *platform, struct hart *hart) {
  int ideal = platform->config.icache_ideal != 0;
  memset(hart->cache_tags, 0, (size_t)hart->cache_sets * hart->cache_ways * sizeof(uint32_t));
  for (uint32_t r = 0; r < REGION_COUNT; r++)
    memset(hart->resident_bits[r], ideal ? 0xff : 0, resident_bytes(platform, r));
  hart->l0_epoch++;
}

void caches_flush(struct platform *platform, int controller) {
  for (uint32_t i = 0; i < platform->hart_count; i++)
    if (platform->harts[i].is_controller == controller) clear_hart(platform, &platform->harts[i]);
  if (!controller)
    memset(platform->shared_cache.tags, 0, shared_lines(platform) * sizeof(uint32_t));
}

void caches_refresh(struct platform *platform) {
  caches_flush(platform, 0);
  caches_flush(platform, 1);
}

/* The first time from `cycle` on at which a bank can refill for `cycles`. A core asks for all lines of a straight block
 * when it enters the block, each for the time at which it will get there, so requests do not come in order of time and
 * a bank has gaps. */
static uint64_t take_refill(uint64_t *starts, uint64_t cycle, uint64_t cycles) {
  uint32_t oldest = 0;
  uint64_t start = cycle;
  for (uint32_t i = 0; i < CACHE_REFILLS; i++) {
    if (starts[i] < starts[oldest]) oldest = i;
    if (start + cycles <= starts[i] || start >= starts[i] + cycles) continue;
    start = starts[i] + cycles;
    i = UINT32_MAX; /* what fitted before may overlap now */
  }
  starts[oldest] = start;
  return start;
}

/* Wait for a line of the shared cache, starting at a cluster cycle; returns the stall. */
static uint64_t fetch_shared(struct platform *platform, uint32_t tag, uint64_t cycle) {
  struct shared_cache *cache = &platform->shared_cache;
  const struct config *config = &platform->config;
  uint32_t ways = (uint32_t)config->icache_shared_ways, set = (tag - 1) % (uint32_t)config->icache_shared_sets;
  uint32_t way, bank = (tag - 1) % (uint32_t)config->icache_shared_banks;
  uint64_t hit = (uint64_t)config->icache_shared_hit, full = (uint64_t)config->icache_refill;
  uint64_t refill = full > hit ? full - hit : 0, ready;
  for (way = 0; way < ways; way++) {
    if (cache->tags[set * ways + way] != tag) continue;
    /* A line that is still being refilled for another core arrives for both. */
    ready = cache->ready[set * ways + way];
    return ready > cycle ? ready - cycle + hit : hit;
  }
  ready = take_refill(cache->refill[bank], cycle, refill) + refill;
  way = next_way(&cache->random[bank], ways);
  cache->tags[set * ways + way] = tag;
  cache->ready[set * ways + way] = ready;
  return ready - cycle + hit;
}

/* The byte that holds the bit of a line. */
static uint8_t *resident_byte(const struct hart *hart, uint32_t number, uint8_t *bit) {
  uint32_t l2_lines = cache_line(hart->platform, REGION_L2, 0), region = number < l2_lines ? REGION_L1 : REGION_L2;
  uint32_t line = region == REGION_L2 ? number - l2_lines : number;
  *bit = (uint8_t)(1u << (line % 8));
  return &hart->resident_bits[region][line / 8];
}

void cache_install(struct hart *hart, uint32_t way, uint32_t number) {
  uint32_t *tag = &hart->cache_tags[way];
  uint8_t bit, *byte;
  if (*tag) {
    byte = resident_byte(hart, *tag - 1, &bit);
    *byte &= (uint8_t)~bit;
  }
  *tag = number + 1;
  byte = resident_byte(hart, number, &bit);
  *byte |= bit;
  hart->l0_epoch++;
}

uint64_t fetch_lines(struct hart *hart, uint32_t line, uint32_t count, uint64_t cycle) {
  struct platform *platform = hart->platform;
  const struct config *config = &platform->config;
  int enabled = hart->is_controller ? platform->controller_cache_enabled : platform->shared_cache.enabled;
  uint64_t stall = 0;
  for (uint32_t i = line; i < line + count; i++) {
    if (hart->resident_bits[hart->region][i / 8] >> (i % 8) & 1) continue;
    if (!enabled) {
      stall += (uint64_t)(hart->is_controller ? config->icache_controller_refill
                                              : config->icache_disabled);
      hart->l0_epoch++;
      continue;
    }
    uint32_t number = cache_line(platform, hart->region, i), set = number % hart->cache_sets;
    stall += hart->is_controller
                 ? (uint64_t)config->icache_controller_refill
                 : fetch_shared(platform, number + 1, cluster_cycle(hart, cycle) + stall + LINE_INSTRUCTIONS * (i - line));
    cache_install(hart, set * hart->cache_ways + next_way(&hart->cache_random, hart->cache_ways), number);
  }
  hart->count.icache += stall;
  return stall;
}
