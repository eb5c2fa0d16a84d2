/* SPDX-License-Identifier: Apache-2.0
 *
 * Run queue: always the hart with the smallest time. Harts close in time sit in a wheel of bit masks, one per cycle;
 * the few that are further away (long stalls) in a mask that is searched. A mask has a word for every 64 harts; interpreters
 * say how many words there are, so that nothing is looked for where one holds all. */
#ifndef ISS_SCHEDULER_H
#define ISS_SCHEDULER_H

#include "platform.h"

/* Position of a hart of a word in the order of its cycle; smaller comes first. */
static inline uint32_t priority_at(const struct platform *p, uint32_t index, uint64_t cycle) {
  return (index - ((uint32_t)cycle & p->rotation_mask)) & 63;
}

/* The mask of harts, turned so that bit n is the hart with priority n. */
static inline uint64_t by_priority(uint64_t mask, uint32_t turn) { return mask >> turn | mask << ((64 - turn) & 63); }

/* The harts that want to run at a cycle. */
static inline uint64_t *wheel_at(struct platform *p, uint64_t cycle, uint32_t words) {
  return p->wheel + cycle % WHEEL_SIZE * words;
}

static inline int any_ready(const struct platform *p, uint32_t words) {
  uint64_t any = 0;
  for (uint32_t word = 0; word < words; word++) any |= p->ready[word];
  return any != 0;
}

/* Last cycle up to which the wheel alone decides who runs: no device acts, no far hart comes near, the run goes on. */
static inline void update_quiet(struct platform *p) {
  uint64_t quiet = p->far_cycle == NEVER ? NEVER : p->far_cycle - WHEEL_SIZE;
  if (p->device_cycle < quiet) quiet = p->device_cycle;
  if (p->max_cycle < quiet) quiet = p->max_cycle;
  p->quiet_until = p->state == RUN_GOING ? quiet : 0;
}

/* scheduler.c: a hart that does not belong into the wheel. */
void queue_rarely(struct platform *p, const struct hart *hart, uint64_t cycle);

static inline void queue_insert(struct platform *p, const struct hart *hart, uint64_t cycle, uint32_t words) {
  if (LIKELY(cycle - p->wheel_base - 1 < WHEEL_SIZE - 1)) {
    wheel_at(p, cycle, words)[words == 1 ? 0 : hart->index / 64] |= hart->bit;
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

/* Make a cycle the present one: the harts that wait for it are ready. Priority rotates among those of a word, and among
 * the words. */
static inline void wheel_turn(struct platform *p, uint64_t cycle, uint32_t words) {
  uint32_t turn = (uint32_t)cycle & p->rotation_mask;
  uint64_t *harts = wheel_at(p, cycle, words);
  p->wheel_base = cycle;
  p->turn = turn;
  for (uint32_t word = 0; word < words; word++) {
    p->ready[word] = by_priority(harts[word], turn);
    harts[word] = 0;
  }
  p->wheel_occupied &= ~(1ull << (cycle % WHEEL_SIZE));
  if (words > 1) p->ready_word = (uint32_t)(cycle / 64) % words;
}

/* Take the first of the harts that are ready; there must be one. */
static inline struct hart *take_ready(struct platform *p, uint32_t words) {
  uint32_t word = 0, index;
  if (words > 1) {
    while (!p->ready[p->ready_word]) p->ready_word = p->ready_word + 1 == words ? 0 : p->ready_word + 1;
    word = p->ready_word;
  }
  index = ((uint32_t)__builtin_ctzll(p->ready[word]) + p->turn) & 63;
  p->ready[word] &= p->ready[word] - 1;
  return &p->harts[64 * word + index];
}

/* Last cycle at which hart `index` comes before the harts of the wheel, the far harts, the devices and the end. With
 * several words, any other is taken to come before it at its cycle. */
static inline uint64_t limit_by_wheel(struct platform *p, uint32_t index, uint32_t words) {
  uint64_t limit = p->quiet_until;
  if (p->wheel_occupied) {
    uint64_t cycle = wheel_first(p);
    uint64_t others = by_priority(*wheel_at(p, cycle, words), (uint32_t)cycle & p->rotation_mask);
    cycle -= words > 1 || priority_at(p, index, cycle) > (uint32_t)__builtin_ctzll(others);
    if (cycle < limit) limit = cycle;
  }
  return limit;
}

/* The same, and before those that are ready. */
static inline uint64_t find_limit(struct platform *p, uint32_t index, uint32_t words) {
  uint64_t cycle = p->wheel_base;
  if (!any_ready(p, words)) return limit_by_wheel(p, index, words);
  if (words == 1) cycle -= priority_at(p, index, cycle) > (uint32_t)__builtin_ctzll(p->ready[0]);
  return cycle < p->quiet_until ? cycle : p->quiet_until;
}

/* A limit of the cluster clock in the clock of a hart. */
static inline uint64_t limit_of(const struct hart *hart, uint64_t limit) {
  return UNLIKELY(hart->has_own_clock) ? local_cycle(hart, limit + 1) - 1 : limit;
}

/* Set `limit` of the running hart after something entered the queue. */
static inline void update_limit(struct platform *p) {
  if (p->running) p->limit = limit_of(p->running, find_limit(p, p->running->index, p->words));
}

/* scheduler.c: the next hart when the wheel alone cannot tell; NULL when the run is over. */
struct hart *schedule_slowly(struct platform *p);

enum { SPIN_QUANTUM = 4096 }; /* cycles that a hart may run ahead without touching memory */

/* The hart that runs next and the last cycle at which it comes before all others; NULL when the run is over. This is
 * the hottest path of a simulation with many cores: each of their L1 accesses passes through here. */
static inline __attribute__((always_inline)) struct hart *schedule(struct platform *p, uint64_t *limit, uint32_t words) {
  uint64_t cycle = p->wheel_base;
  struct hart *hart;
  int is_ready = any_ready(p, words);
  if (!is_ready) cycle = p->wheel_occupied ? wheel_first(p) : NEVER;
  if (UNLIKELY(cycle > p->quiet_until)) {
    hart = schedule_slowly(p);
    if (!hart) return NULL;
    *limit = limit_of(hart, find_limit(p, hart->index, words));
    return hart;
  }
  if (!is_ready) wheel_turn(p, cycle, words);
  hart = take_ready(p, words);
  /* Others at this cycle come after it; at the cycle of the next hart the two are ordered by priority. */
  if (!any_ready(p, words)) cycle = limit_by_wheel(p, hart->index, words);
  *limit = limit_of(hart, cycle);
  return hart;
}

#endif /* ISS_SCHEDULER_H */
