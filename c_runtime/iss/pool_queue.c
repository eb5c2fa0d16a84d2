/* SPDX-License-Identifier: Apache-2.0
 *
 * The run queue of hundreds of harts, where the wheel alone cannot tell who comes next. */
#include "pool.h"

void pool_insert_rarely(struct platform *p, const struct hart *hart, uint64_t cycle) {
  struct pool *pool = p->pool;
  if (cycle <= p->wheel_base) {
    pool->ready[hart->index / 64] |= 1ull << ((hart->index % 64 - p->turn) & 63);
    p->ready = 1;
    return;
  }
  pool->far[hart->index / 64] |= 1ull << (hart->index % 64);
  if (cycle < p->far_cycle) p->far_cycle = cycle;
  update_quiet(p);
}

static void bring_near(struct platform *p) {
  struct pool *pool = p->pool;
  p->far_cycle = NEVER;
  update_quiet(p);
  for (uint32_t word = 0; word < pool->words; word++) {
    uint64_t rest = pool->far[word];
    pool->far[word] = 0;
    for (; rest; rest &= rest - 1) {
      const struct hart *hart = &p->harts[64 * word + (uint32_t)__builtin_ctzll(rest)];
      pool_insert(p, hart, hart->now);
    }
  }
}

struct hart *pool_schedule_slowly(struct platform *p) {
  p->running = NULL;
  while (p->state == RUN_GOING) {
    uint64_t cycle = p->ready ? p->wheel_base : p->wheel_occupied ? wheel_first(p) : p->far_cycle;
    uint64_t first = p->device_cycle < cycle ? p->device_cycle : cycle;
    struct hart *hart;
    if (first == NEVER) {
      report_deadlock(p);
    } else if (first > p->max_cycle) {
      p->end_cycle = p->max_cycle;
      platform_fault(p, FAULT_CYCLES, NULL, 0, "the run exceeded its limit of %llu cycles",
                     (unsigned long long)p->max_cycle);
    } else if (p->device_cycle < cycle) {
      run_devices(p, p->device_cycle);
    } else if (p->far_cycle <= cycle || p->far_cycle - p->wheel_base - 1 < WHEEL_SIZE - 1) {
      if (!p->ready && !p->wheel_occupied) p->wheel_base = cycle - 1; /* so that they find room in the wheel */
      bring_near(p);
    } else {
      if (!p->ready) pool_turn(p, cycle);
      hart = pool_take_ready(p);
      if (hart) return hart;
    }
  }
  return NULL;
}

void queue_in_pool(struct platform *p, const struct hart *hart, uint64_t cycle) { pool_insert(p, hart, cycle); }

uint64_t limit_in_pool(const struct platform *p) { return pool_limit(p); }
