/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler.h"

void queue_rarely(struct platform *p, const struct hart *hart, uint64_t cycle) {
  if (cycle <= p->wheel_base) {
    p->ready |= 1u << ((hart->index - p->turn) & 31);
    return;
  }
  p->far_harts |= hart->bit;
  if (cycle < p->far_cycle) p->far_cycle = cycle;
  update_quiet(p);
}

/* Move the harts whose time has come close from the far mask to the wheel. */
static void bring_near(struct platform *p) {
  uint32_t rest = p->far_harts;
  p->far_harts = 0;
  p->far_cycle = NEVER;
  update_quiet(p);
  for (; rest; rest &= rest - 1) {
    const struct hart *hart = &p->harts[__builtin_ctz(rest)];
    queue_insert(p, hart, cluster_cycle(hart, hart->now));
  }
}

struct hart *schedule_slowly(struct platform *p) {
  p->running = NULL;
  while (p->state == RUN_GOING) {
    uint64_t cycle = p->ready ? p->wheel_base : p->wheel_occupied ? wheel_first(p) : p->far_cycle;
    uint64_t first = p->device_cycle < cycle ? p->device_cycle : cycle;
    if (first == NEVER) {
      report_deadlock(p);
    } else if (first > p->max_cycle) {
      p->end_cycle = p->max_cycle;
      platform_fault(p, FAULT_CYCLES, NULL, 0, "the run exceeded its limit of %llu cycles",
                     (unsigned long long)p->max_cycle);
    } else if (p->device_cycle < cycle) {
      run_devices(p, p->device_cycle);
    } else if (p->far_harts && p->far_cycle < cycle + WHEEL_SIZE) {
      if (!p->ready && !p->wheel_occupied) wheel_turn(p, cycle);
      bring_near(p);
      if (!p->ready && p->wheel_occupied) wheel_turn(p, wheel_first(p));
      if (p->far_cycle < p->wheel_base + WHEEL_SIZE) bring_near(p);
    } else {
      if (!p->ready) wheel_turn(p, cycle);
      return take_ready(p);
    }
  }
  return NULL;
}
