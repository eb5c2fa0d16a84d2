/* SPDX-License-Identifier: Apache-2.0
 *
 * Run queue: always the hart with the smallest local time, ties to the lowest index. Harts close in time sit in a
 * wheel of bit masks, one per cycle; the few that are further away (long stalls) in a mask that is searched. */
#ifndef ISS_SCHEDULER_H
#define ISS_SCHEDULER_H

#include "platform.h"

static inline void queue_far_harts(struct platform *p) {
  uint32_t rest = p->far_harts;
  p->far_harts = 0;
  p->far_cycle = NEVER;
  while (rest) {
    uint32_t index = (uint32_t)__builtin_ctz(rest);
    uint64_t cycle = cluster_cycle(&p->harts[index], p->harts[index].now);
    rest &= rest - 1;
    if (cycle < p->wheel_base + WHEEL_SIZE) {
      p->wheel[cycle % WHEEL_SIZE] |= 1u << index;
      p->wheel_occupied |= 1ull << (cycle % WHEEL_SIZE);
    } else {
      p->far_harts |= 1u << index;
      if (cycle < p->far_cycle) p->far_cycle = cycle;
    }
  }
}

static inline void queue_insert(struct platform *p, uint32_t index, uint64_t cycle) {
  if (LIKELY(cycle < p->wheel_base + WHEEL_SIZE)) {
    if (cycle < p->wheel_base) cycle = p->wheel_base;
    p->wheel[cycle % WHEEL_SIZE] |= 1u << index;
    p->wheel_occupied |= 1ull << (cycle % WHEEL_SIZE);
  } else {
    p->far_harts |= 1u << index;
    if (cycle < p->far_cycle) p->far_cycle = cycle;
  }
}

/* Key of the first hart in the queue, NEVER when it is empty. */
static inline uint64_t queue_first(const struct platform *p) {
  uint64_t occupied = p->wheel_occupied, cycle;
  unsigned turn = (unsigned)(p->wheel_base % WHEEL_SIZE);
  if (!occupied) {
    uint64_t best = NEVER;
    for (uint32_t rest = p->far_harts; rest; rest &= rest - 1) {
      uint32_t index = (uint32_t)__builtin_ctz(rest);
      uint64_t key = cluster_cycle(&p->harts[index], p->harts[index].now) << KEY_BITS | index;
      if (key < best) best = key;
    }
    return best;
  }
  occupied = occupied >> turn | occupied << ((WHEEL_SIZE - turn) % WHEEL_SIZE);
  cycle = p->wheel_base + (unsigned)__builtin_ctzll(occupied);
  return cycle << KEY_BITS | (unsigned)__builtin_ctz(p->wheel[cycle % WHEEL_SIZE]);
}

static inline void queue_remove_first(struct platform *p, uint64_t key) {
  uint64_t cycle = KEY_CYCLE(key);
  uint32_t index = (uint32_t)(key & (ONE_CYCLE - 1));
  p->wheel_base = cycle;
  if (UNLIKELY(p->far_harts && p->far_cycle < cycle + WHEEL_SIZE)) queue_far_harts(p);
  p->wheel[cycle % WHEEL_SIZE] &= ~(1u << index);
  if (!p->wheel[cycle % WHEEL_SIZE]) p->wheel_occupied &= ~(1ull << (cycle % WHEEL_SIZE));
}

/* Recompute `limit`, in the local clock of the running hart, after something entered the queue. */
static inline void update_limit(struct platform *p) {
  uint64_t first = queue_first(p);
  uint64_t device = p->device_cycle == NEVER ? NEVER : (p->device_cycle << KEY_BITS | DEVICE_INDEX);
  uint64_t last = p->max_cycle << KEY_BITS | DEVICE_INDEX;
  if (device < first) first = device;
  if (last < first) first = last;
  p->limit = first;
  if (p->running && UNLIKELY(p->running->is_controller) &&
      p->config.soc_clock_numerator != p->config.soc_clock_denominator) {
    /* Largest local cycle whose cluster cycle comes before the limit. */
    uint64_t cycle = KEY_CYCLE(first), index = first & (ONE_CYCLE - 1);
    if (p->running->index >= index && cycle) cycle--;
    cycle = local_cycle(p->running, cycle + 1);
    p->limit = cycle ? ((cycle - 1) << KEY_BITS | DEVICE_INDEX) : 0;
  }
}

#endif /* ISS_SCHEDULER_H */
