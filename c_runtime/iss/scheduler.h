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

/* The mask of harts, turned so that bit n is the hart with priority n. */
static inline uint32_t by_priority(uint32_t mask, uint32_t turn) { return mask >> turn | mask << ((32 - turn) & 31); }

/* Last cycle up to which the wheel alone decides who runs: no device acts, no far hart comes near, the run goes on. */
static inline void update_quiet(struct platform *p) {
  uint64_t quiet = p->far_cycle == NEVER ? NEVER : p->far_cycle - WHEEL_SIZE;
  if (p->device_cycle < quiet) quiet = p->device_cycle;
  if (p->max_cycle < quiet) quiet = p->max_cycle;
  p->quiet_until = p->state == RUN_GOING ? quiet : 0;
}

/* scheduler.c: a hart that does not belong into the wheel. */
void queue_rarely(struct platform *p, const struct hart *hart, uint64_t cycle);

static inline void queue_insert(struct platform *p, const struct hart *hart, uint64_t cycle) {
  if (LIKELY(cycle - p->wheel_base - 1 < WHEEL_SIZE - 1)) {
    p->wheel[cycle % WHEEL_SIZE] |= hart->bit;
    p->wheel_occupied |= 1ull << (cycle % WHEEL_SIZE);
  } else {
    queue_rarely(p, hart, cycle);
  }
}

/* First cycle at which a hart of the wheel wants to run; the wheel must not be empty. */
static inline uint64_t wheel_first(const struct platform *p) {
  unsigned turn = (unsigned)(p->wheel_base % WHEEL_SIZE);
  uint64_t occupied = p->wheel_occupied;
  occupied = occupied >> turn | occupied << ((WHEEL_SIZE - turn) % WHEEL_SIZE);
  return p->wheel_base + (unsigned)__builtin_ctzll(occupied);
}

/* Make a cycle the present one: the harts that wait for it are ready. */
static inline void wheel_turn(struct platform *p, uint64_t cycle) {
  uint32_t turn = (uint32_t)cycle & p->rotation_mask;
  p->wheel_base = cycle;
  p->turn = turn;
  p->ready = by_priority(p->wheel[cycle % WHEEL_SIZE], turn);
  p->wheel[cycle % WHEEL_SIZE] = 0;
  p->wheel_occupied &= ~(1ull << (cycle % WHEEL_SIZE));
}

/* Take the first of the harts that are ready. */
static inline struct hart *take_ready(struct platform *p) {
  uint32_t index = ((uint32_t)__builtin_ctz(p->ready) + p->turn) & 31;
  p->ready &= p->ready - 1;
  return &p->harts[index];
}

/* Last cycle at which hart `index` comes before the harts of the wheel, the far harts, the devices and the end. */
static inline uint64_t limit_by_wheel(const struct platform *p, uint32_t index) {
  uint64_t limit = p->quiet_until;
  if (p->wheel_occupied) {
    uint64_t cycle = wheel_first(p);
    uint32_t others = by_priority(p->wheel[cycle % WHEEL_SIZE], (uint32_t)cycle & p->rotation_mask);
    cycle -= priority_at(p, index, cycle) > (uint32_t)__builtin_ctz(others);
    if (cycle < limit) limit = cycle;
  }
  return limit;
}

/* The same, and before those that are ready. */
static inline uint64_t find_limit(const struct platform *p, uint32_t index) {
  uint64_t cycle = p->wheel_base;
  if (!p->ready) return limit_by_wheel(p, index);
  cycle -= priority_at(p, index, cycle) > (uint32_t)__builtin_ctz(p->ready);
  return cycle < p->quiet_until ? cycle : p->quiet_until;
}

/* A limit of the cluster clock in the clock of a hart. */
static inline uint64_t limit_of(const struct hart *hart, uint64_t limit) {
  return UNLIKELY(hart->has_own_clock) ? local_cycle(hart, limit + 1) - 1 : limit;
}

/* pool_queue.c: the same for hundreds of harts. */
void queue_in_pool(struct platform *p, const struct hart *hart, uint64_t cycle);
uint64_t limit_in_pool(const struct platform *p);

/* Insert a hart of any kind; interpreters know theirs. */
static inline void queue_hart(struct platform *p, const struct hart *hart, uint64_t cycle) {
  if (p->pool) queue_in_pool(p, hart, cycle);
  else queue_insert(p, hart, cycle);
}

/* Set `limit` of the running hart after something entered the queue. */
static inline void update_limit(struct platform *p) {
  if (p->running && p->pool) p->limit = limit_in_pool(p);
  else if (p->running) p->limit = limit_of(p->running, find_limit(p, p->running->index));
}

/* scheduler.c: the next hart when the wheel alone cannot tell; NULL when the run is over. */
struct hart *schedule_slowly(struct platform *p);

enum { SPIN_QUANTUM = 4096 }; /* cycles that a hart may run ahead without touching memory */

/* The hart that runs next and the last cycle at which it comes before all others; NULL when the run is over. This is
 * the hottest path of a simulation with many cores: each of their L1 accesses passes through here. */
static inline __attribute__((always_inline)) struct hart *schedule(struct platform *p, uint64_t *limit) {
  uint64_t cycle = p->wheel_base;
  struct hart *hart;
  if (!p->ready) cycle = p->wheel_occupied ? wheel_first(p) : NEVER;
  if (UNLIKELY(cycle > p->quiet_until)) {
    hart = schedule_slowly(p);
    if (!hart) return NULL;
    *limit = limit_of(hart, find_limit(p, hart->index));
    return hart;
  }
  if (!p->ready) wheel_turn(p, cycle);
  hart = take_ready(p);
  /* Others at this cycle come after it; at the cycle of the next hart the two are ordered by priority. */
  if (!p->ready) cycle = limit_by_wheel(p, hart->index);
  *limit = limit_of(hart, cycle);
  return hart;
}

#endif /* ISS_SCHEDULER_H */
