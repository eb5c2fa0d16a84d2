/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree: the last core of a tile counts for the tile, the last tile of a group for the group, and the last group wakes
 * all cores. One counter would serve all cores one after the other. */
#include "tvm_pulp/core.h"

enum { LINE_WORDS = POOL_TILE_BANKS, OF_TILE = 0, OF_GROUP = 1, OF_ALL = 2 };

/* A line of each tile's banks. */
static volatile uint32_t counters[POOL_TILES][LINE_WORDS] __attribute__((section(".bss..counters")));

static inline uint32_t arrive(volatile uint32_t *counter) {
  uint32_t before;
  __asm__ volatile("amoadd.w %0,%1,(%2)" : "=r"(before) : "r"(1u), "r"(counter) : "memory");
  return before;
}

void tvm_pulp_clear_barrier(void) {
  for (uint32_t tile = 0; tile < POOL_TILES; ++tile) {
    counters[tile][OF_TILE] = counters[tile][OF_GROUP] = counters[tile][OF_ALL] = 0;
  }
}

void tvm_pulp_barrier(void) {
  const uint32_t tile = tvm_pulp_core_id() / POOL_TILE_CORES, group = tile / POOL_CORE_TILES;
  volatile uint32_t *own = &counters[tile + group * (POOL_GROUP_TILES - POOL_CORE_TILES)][OF_TILE];
  volatile uint32_t *ours = &counters[group * POOL_GROUP_TILES][OF_GROUP], *all = &counters[0][OF_ALL];
  __asm__ volatile("fence" ::: "memory");
  if (arrive(own) == POOL_TILE_CORES - 1u) {
    *own = 0;
    if (arrive(ours) == POOL_CORE_TILES - 1u) {
      *ours = 0;
      if (arrive(all) == POOL_GROUPS - 1u) {
        *all = 0;
        __asm__ volatile("fence" ::: "memory");
        TVM_PULP_REGISTER(POOL_WAKE_UP) = POOL_ALL;
      }
    }
  }
  __asm__ volatile("wfi" ::: "memory");
}
