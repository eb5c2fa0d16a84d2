/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler.h"

void queue_rarely(struct platform *p, const struct hart *hart, uint64_t cycle) {
  uint32_t word = hart->index / 64;
  if (cycle <= p->wheel_base) {
    p->ready[word] |= by_priority(hart->bit, p->turn);
    return;
  }
  p->far[word] |= hart->bit;
  if (cycle < p->far_cycle) p->far_cycle = cycle;
  update_quiet(p);
}

/* Move the harts whose time has come close from the far mask to the wheel. */
static void bring_near(struct platform *p) {
  p->far_cycle = NEVER;
  update_quiet(p);
  for (uint32_t word = 0; word < p->words; word++) {
    uint64_t rest = p->far[word];
    p->far[word] = 0;
    for (; rest; rest &= rest - 1) {
      const struct hart *hart = &p->harts[64 * word + (uint32_t)__builtin_ctzll(rest)];
      queue_insert(p, hart, cluster_cycle(hart, hart->now), p->words);
    }
  }
}

struct hart *schedule_slowly(struct platform *p) {
  p->running = NULL;
  while (p->state == RUN_GOING) {
    int is_ready = any_ready(p, p->words);
    uint64_t cycle = is_ready ? p->wheel_base : p->wheel_occupied ? wheel_first(p) : p->far_cycle;
    uint64_t first = p->device_cycle < cycle ? p->device_cycle : cycle;
    if (first == NEVER) {
      report_deadlock(p);
    } else if (first > p->max_cycle) {
      p->end_cycle = p->max_cycle;
      platform_fault(p, FAULT_CYCLES, NULL, 0, "the run exceeded its limit of %llu cycles",
                     (unsigned long long)p->max_cycle);
    } else if (p->device_cycle < cycle) {
      run_devices(p, p->device_cycle);
    } else {
      if (!is_ready) wheel_turn(p, cycle, p->words);
      if (p->far_cycle < cycle + WHEEL_SIZE) bring_near(p);
      return take_ready(p, p->words);
    }
  }
  return NULL;
}
