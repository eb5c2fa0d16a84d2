/* SPDX-License-Identifier: Apache-2.0
 *
 * Hundreds of Snitch cores in tiles and groups around one L1 of many banks. A tile has a few cores, banks of its own and
 * an instruction cache; it has one way out to the tiles of its group and one to each other group. Accesses take longer
 * the further they go; eight loads of a core may be under way and return in any order. There is no DMA core and no
 * barrier in hardware: registers start transfers, and wake cores that sleep.
 *
 * A resource that serves one access per cycle (a bank, a way out) remembers which of the next cycles are taken, since
 * accesses that come from far are asked for before they arrive. */
#ifndef ISS_POOL_H
#define ISS_POOL_H

#include "snitch.h"

enum { POOL_CORES = 64 * QUEUE_WORDS, POOL_BANKS = 1024, POOL_TILES = 64, POOL_GROUPS = 8,
       POOL_WAKE_UPS = 7, POOL_LOADS = 8 };

/* Of the control block with accelerators, and of the DMA. */
enum { POOL_REGISTERS = 0x40000000, POOL_REGISTER_BYTES = 0x20000 };

/* Bit n of `taken`: cycle `base + n`. All from the end of these bits to `end` are taken. */
struct pool_slots {
  uint64_t base, taken, end;
};

struct pool_transfer {
  uint32_t source, target, bytes;
  uint32_t l1;             /* where in L1 */
  int is_under_way, inward;
  uint64_t start, end;     /* of the beats */
};

struct pool {
  uint32_t tiles, tile_banks, tile_cores, groups, group_tiles, core_tiles; /* of a group with cores */
  uint32_t sequential_end, sequential_shift;   /* where the sequential region ends; log2 of its bytes in a tile */
  uint32_t bank_shift, tile_shift, group_shift; /* log2 of the banks of a tile, of the tiles, of those of a group */
  uint8_t tile_of[POOL_CORES], group_of[POOL_CORES];
  struct pool_slots bank[POOL_BANKS];
  struct pool_slots way_out[POOL_TILES][POOL_GROUPS];
  uint64_t load[POOL_CORES][POOL_LOADS];       /* when those under way are answered */
  uint8_t wake_ups[POOL_CORES];                /* that arrived while the core was awake */
  /* Registers. */
  uint32_t wake_stride, wake_offset, cache_enabled, cache_range[8];
  uint32_t dma_source, dma_target, dma_bytes, dma_configuration, dma_done;
  struct pool_transfer transfer;
  /* Caches of code that a group shares. */
  uint32_t *code_tags, code_turn;
  uint64_t *code_ready;
};

/* pool.c */
int pool_create(struct platform *platform);
void pool_destroy(struct platform *platform);
int pool_register_access(struct hart *hart, uint32_t offset, int is_write, uint32_t *value);
uint64_t pool_take_banks(struct platform *platform, uint32_t address, uint32_t bytes, uint64_t cycle);
uint64_t pool_take_behind(struct pool_slots *slots, uint64_t now, uint64_t cycle);

/* pool_execute.c, without and with hooks */
void pool_execute(struct platform *platform);
void pool_execute_observed(struct platform *platform);

/* pool_dma.c */
int pool_dma_access(struct hart *hart, uint32_t offset, int is_write, uint32_t *value);
void pool_dma_advance(struct platform *platform, uint64_t cycle);
uint64_t pool_dma_next(const struct platform *platform);
/* The first cycle from `cycle` on in which no beat of a transfer has the banks of a tile. */
uint64_t pool_dma_avoid(const struct platform *platform, uint32_t tile, uint64_t cycle);

/* The row, tile and bank of an offset in L1, as an offset in which they follow each other. */
static inline uint32_t pool_scramble(const struct pool *pool, uint32_t offset) {
  uint32_t low = pool->bank_shift + 2, shift = pool->sequential_shift;
  uint32_t tile, line;
  if (offset >= pool->sequential_end) return offset;
  tile = offset >> shift & (pool->tiles - 1);
  line = offset >> low & ((1u << (shift - low)) - 1);
  return (offset & ((1u << low) - 1)) | tile << low | line << (low + pool->tile_shift);
}

/* The first free cycle from `cycle` on, which is taken now; nothing is asked for before `now` any more. */
static inline uint64_t pool_take(struct pool_slots *slots, uint64_t now, uint64_t cycle) {
  uint64_t ahead = cycle - now;
  if (LIKELY(now >= slots->end && ahead < 64)) { /* nobody is waited for */
    slots->base = now;
    slots->taken = 1ull << ahead;
    slots->end = cycle + 1;
    return cycle;
  }
  return pool_take_behind(slots, now, cycle);
}

/* An access of L1 that is asked for at `now`: when it leaves the core, and when its answer can be used. */
static inline uint64_t pool_ask(struct platform *platform, uint32_t index, uint32_t offset, uint64_t now,
                                uint64_t *answer) {
  struct pool *pool = platform->pool;
  const struct config *config = &platform->config;
  uint32_t place = pool_scramble(pool, offset) >> 2, bank = place & ((1u << (pool->bank_shift + pool->tile_shift)) - 1);
  uint32_t tile = bank >> pool->bank_shift, own = pool->tile_of[index];
  uint64_t left = now, there = now, served, hop = 0;
  if (tile != own) {
    uint32_t group = tile >> pool->group_shift;
    hop = (uint64_t)(group == pool->group_of[index] ? config->tiles_group_latency : config->tiles_cluster_latency) / 2;
    left = pool_take(&pool->way_out[own][group], now, now);
    there = left + hop;
  }
  if (UNLIKELY(pool->transfer.is_under_way)) there = pool_dma_avoid(platform, tile, there);
  served = config->memory_l1_conflicts ? pool_take(&pool->bank[bank], now, there) : there;
  *answer = served + hop + (uint64_t)config->scoreboard_load;
  return tile == own ? served : left;
}

#endif /* ISS_POOL_H */
