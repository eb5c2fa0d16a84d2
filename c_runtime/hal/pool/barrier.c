/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree: the last core of a tile counts for the tile, the last tile of a group for the group, and the last group of
 * those that meet wakes their cores. One counter would serve all cores one after the other. */
#include "tvm_pulp/core.h"
#include "tvm_pulp/placement.h"

enum { LINE_WORDS = POOL_TILE_BANKS, OF_TILE = 0, OF_GROUP = 1, OF_HALF = 2, OF_ALL = 3 };

/* A line of each tile's banks. */
static volatile uint32_t counters[POOL_TILES][LINE_WORDS] __attribute__((section(".bss..counters")));

static inline uint32_t arrive(volatile uint32_t *counter) {
  uint32_t before;
  __asm__ volatile("amoadd.w %0,%1,(%2)" : "=r"(before) : "r"(1u), "r"(counter) : "memory");
  return before;
}

void tvm_pulp_clear_barrier(void) {
  for (uint32_t tile = 0; tile < POOL_TILES; ++tile) {
    counters[tile][OF_TILE] = counters[tile][OF_GROUP] = counters[tile][OF_HALF] = counters[tile][OF_ALL] = 0;
  }
}

static inline __attribute__((always_inline)) void wake_groups(uint32_t first, uint32_t count) {
  __asm__ volatile("fence" ::: "memory");
  if (count == POOL_GROUPS) {
    TVM_PULP_REGISTER(POOL_WAKE_UP) = POOL_ALL;
    return;
  }
#if POOL_WAKE_MASKS
  TVM_PULP_REGISTER(POOL_WAKE_UP_GROUP) = ((1u << count) - 1u) << first;
#else
  for (uint32_t core = first * POOL_CORES_OF_GROUP; core < (first + count) * POOL_CORES_OF_GROUP; ++core)
    TVM_PULP_REGISTER(POOL_WAKE_UP) = core;
#endif
}

/* The last core of a group that arrives counts at `counter` for it; the last of `count` groups from `first` on wakes
 * all of their cores. Inline, so that what all cores do together is as short as it can be. */
static inline __attribute__((always_inline)) void meet(volatile uint32_t *counter, uint32_t first, uint32_t count) {
  const uint32_t tile = tvm_pulp_core_id() / POOL_TILE_CORES, group = tile / POOL_CORE_TILES;
  volatile uint32_t *own = &counters[tile + group * (POOL_GROUP_TILES - POOL_CORE_TILES)][OF_TILE];
  volatile uint32_t *ours = &counters[group * POOL_GROUP_TILES][OF_GROUP];
  __asm__ volatile("fence" ::: "memory");
  if (arrive(own) == POOL_TILE_CORES - 1u) {
    *own = 0;
    if (arrive(ours) == POOL_CORE_TILES - 1u) {
      *ours = 0;
      if (count == 1u || arrive(counter) == count - 1u) {
        if (count != 1u) *counter = 0;
        wake_groups(first, count);
      }
    }
  }
  __asm__ volatile("wfi" ::: "memory");
}

void tvm_pulp_barrier(void) { meet(&counters[0][OF_ALL], 0, POOL_GROUPS); }

TVM_PULP_LATER void tvm_pulp_meet(uint32_t team) {
  const uint32_t parts = tvm_pulp_team_parts(team), count = POOL_GROUPS / parts, first = (team - parts) * count;
  if (tvm_pulp_core_id() / POOL_CORES_OF_GROUP - first < count)
    meet(&counters[first * POOL_GROUP_TILES][OF_HALF], first, count);
}
