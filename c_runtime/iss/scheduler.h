/* SPDX-License-Identifier: Apache-2.0
 *
 * Run queue: always the hart with the smallest time. Harts close in time sit in a wheel of bit masks, one per cycle;
 * the few that are further away (long stalls) in a mask that is searched. */
#ifndef ISS_SCHEDULER_H
#define ISS_SCHEDULER_H

#include "platform.h"

/* Position of a hart in the order of its cycle; smaller comes first. */
static inline uint32_t priority_at(const struct platform *p, uint32_t index, uint64_t cycle) {
  return (index - ((uint32_t)cycle & p->rotation_mask)) & 31;
}

/* The mask of harts at a cycle, rotated so that bit n is the hart with priority n. */
static inline uint32_t by_priority(const struct platform *p, uint32_t mask, uint64_t cycle) {
  uint32_t turn = (uint32_t)cycle & p->rotation_mask;
  return mask >> turn | mask << ((32 - turn) & 31);
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

/* First cycle at which a hart of the wheel wants to run; the wheel must not be empty. */
static inline uint64_t wheel_first(const struct platform *p) {
  unsigned turn = (unsigned)(p->wheel_base % WHEEL_SIZE);
  uint64_t occupied = p->wheel_occupied;
  occupied = occupied >> turn | occupied << ((WHEEL_SIZE - turn) % WHEEL_SIZE);
  return p->wheel_base + (unsigned)__builtin_ctzll(occupied);
}

/* Last cycle at which hart `index` comes before the harts in the wheel, the far harts, the devices and the end. */
static inline uint64_t find_limit(const struct platform *p, uint32_t index) {
  uint64_t limit = p->far_cycle == NEVER ? NEVER : p->far_cycle - 1;
  if (p->wheel_occupied) {
    uint64_t cycle = wheel_first(p);
    uint32_t others = by_priority(p, p->wheel[cycle % WHEEL_SIZE], cycle);
    limit = cycle - (priority_at(p, index, cycle) > (uint32_t)__builtin_ctz(others));
  }
  if (p->device_cycle < limit) limit = p->device_cycle;
  return p->max_cycle < limit ? p->max_cycle : limit;
}

/* Set `limit`, in the clock of the running hart, after something entered the queue. */
static inline void update_limit(struct platform *p) {
  const struct hart *hart = p->running;
  if (!hart) return;
  p->limit = find_limit(p, hart->index);
  if (UNLIKELY(hart->is_controller && p->config.soc_clock_numerator != p->config.soc_clock_denominator))
    p->limit = local_cycle(hart, p->limit + 1) - 1;
}

/* Take hart and cycle out of the wheel. */
static inline struct hart *wheel_take(struct platform *p, uint64_t cycle) {
  uint32_t *mask = &p->wheel[cycle % WHEEL_SIZE];
  uint32_t turn = (uint32_t)cycle & p->rotation_mask;
  uint32_t index = ((uint32_t)__builtin_ctz(by_priority(p, *mask, cycle)) + turn) & 31;
  p->wheel_base = cycle;
  *mask &= ~(1u << index);
  if (!*mask) p->wheel_occupied &= ~(1ull << (cycle % WHEEL_SIZE));
  return &p->harts[index];
}

/* scheduler.c: the next hart when the wheel alone cannot tell; NULL when the run is over. */
struct hart *schedule_slowly(struct platform *p);

enum { SPIN_QUANTUM = 4096 }; /* cycles that a hart may run ahead without touching memory */

/* The hart that runs next, with `limit` set; NULL when the run is over. */
static inline struct hart *schedule(struct platform *p) {
  struct hart *hart;
  uint64_t cycle = p->wheel_occupied ? wheel_first(p) : NEVER - WHEEL_SIZE;
  if (UNLIKELY(cycle > p->device_cycle || cycle + WHEEL_SIZE > p->far_cycle || cycle > p->max_cycle ||
               p->state != RUN_GOING)) {
    hart = schedule_slowly(p);
    if (!hart) return NULL;
  } else {
    hart = wheel_take(p, cycle);
  }
  p->running = hart;
  update_limit(p);
  hart->branch_limit = p->limit + SPIN_QUANTUM;
  return hart;
}

#endif /* ISS_SCHEDULER_H */
