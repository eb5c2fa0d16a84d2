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

#include "scheduler.h"
#include "snitch.h"

enum { POOL_WORDS = 4, POOL_CORES = 64 * POOL_WORDS, POOL_BANKS = 1024, POOL_TILES = 64, POOL_GROUPS = 8,
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
  /* Run queue: as that of platform.h with wider masks. */
  uint64_t ready[POOL_WORDS], far[POOL_WORDS], wheel[WHEEL_SIZE][POOL_WORDS];
  uint32_t ready_word, words, turn_mask;
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

/* pool_queue.c */
void pool_insert_rarely(struct platform *p, const struct hart *hart, uint64_t cycle);
struct hart *pool_schedule_slowly(struct platform *p);

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

/* Put a hart into the run queue. */
static inline void pool_insert(struct platform *p, const struct hart *hart, uint64_t cycle) {
  if (LIKELY(cycle - p->wheel_base - 1 < WHEEL_SIZE - 1)) {
    p->pool->wheel[cycle % WHEEL_SIZE][hart->index / 64] |= 1ull << (hart->index % 64);
    p->wheel_occupied |= 1ull << (cycle % WHEEL_SIZE);
  } else {
    pool_insert_rarely(p, hart, cycle);
  }
}

/* Make a cycle the present one. Priority rotates among the cores of a word, and among the words. */
static inline void pool_turn(struct platform *p, uint64_t cycle) {
  struct pool *pool = p->pool;
  uint64_t *harts = pool->wheel[cycle % WHEEL_SIZE];
  uint32_t turn = (uint32_t)cycle & pool->turn_mask;
  p->wheel_base = cycle;
  p->turn = turn;
  for (uint32_t i = 0; i < pool->words; i++) {
    pool->ready[i] = harts[i] >> turn | harts[i] << ((64 - turn) & 63);
    harts[i] = 0;
  }
  p->wheel_occupied &= ~(1ull << (cycle % WHEEL_SIZE));
  p->ready = 1;
  pool->ready_word = (uint32_t)(cycle / 64) % pool->words;
}

/* The first of the harts that are ready; `ready` of the platform says whether there may be any. */
static inline struct hart *pool_take_ready(struct platform *p) {
  struct pool *pool = p->pool;
  for (uint32_t i = 0; i < pool->words; i++) {
    uint32_t word = pool->ready_word;
    if (pool->ready[word]) {
      uint32_t index = ((uint32_t)__builtin_ctzll(pool->ready[word]) + p->turn) & 63;
      pool->ready[word] &= pool->ready[word] - 1;
      return &p->harts[64 * word + index];
    }
    pool->ready_word = word + 1 == pool->words ? 0 : word + 1;
  }
  p->ready = 0;
  return NULL;
}

/* Last cycle at which a hart that has just been taken comes before all others; those of its cycle come after it. */
static inline uint64_t pool_limit(const struct platform *p) {
  const struct pool *pool = p->pool;
  uint64_t cycle = p->wheel_base;
  for (uint32_t i = 0; i < pool->words; i++)
    if (pool->ready[i]) return cycle;
  if (p->wheel_occupied) cycle = wheel_first(p) - 1;
  else cycle = p->quiet_until;
  return cycle < p->quiet_until ? cycle : p->quiet_until;
}

/* The hart that runs next and its limit, as schedule(). */
static inline struct hart *pool_schedule(struct platform *p, uint64_t *limit) {
  struct hart *hart = p->ready && p->wheel_base <= p->quiet_until ? pool_take_ready(p) : NULL;
  if (UNLIKELY(!hart)) {
    uint64_t cycle = p->wheel_occupied ? wheel_first(p) : NEVER;
    if (LIKELY(!p->ready && cycle <= p->quiet_until)) {
      pool_turn(p, cycle);
      hart = pool_take_ready(p);
    } else {
      hart = pool_schedule_slowly(p);
      if (!hart) return NULL;
    }
  }
  *limit = pool_limit(p);
  return hart;
}

#endif /* ISS_POOL_H */
