/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler.h"

/* Move the harts whose time has come close from the far mask to the wheel. */
static void bring_near(struct platform *p) {
  uint32_t rest = p->far_harts;
  p->far_harts = 0;
  p->far_cycle = NEVER;
  update_quiet(p);
  for (; rest; rest &= rest - 1) {
    uint32_t index = (uint32_t)__builtin_ctz(rest);
    queue_insert(p, index, cluster_cycle(&p->harts[index], p->harts[index].now));
  }
}

struct hart *schedule_slowly(struct platform *p) {
  p->running = NULL;
  while (p->state == RUN_GOING) {
    uint64_t cycle = p->wheel_occupied ? wheel_first(p) : p->far_cycle;
    uint64_t first = p->device_cycle < cycle ? p->device_cycle : cycle;
    if (first == NEVER) {
      report_deadlock(p);
    } else if (first > p->max_cycle) {
      platform_fault(p, FAULT_CYCLES, NULL, 0, "the run exceeded its limit of %llu cycles",
                     (unsigned long long)p->max_cycle);
    } else if (p->device_cycle < cycle) {
      run_devices(p, p->device_cycle);
    } else if (p->far_harts && p->far_cycle < cycle + WHEEL_SIZE) {
      if (!p->wheel_occupied) p->wheel_base = cycle;
      bring_near(p);
      if (p->wheel_occupied && wheel_first(p) > p->wheel_base) p->wheel_base = wheel_first(p);
      if (p->far_cycle < p->wheel_base + WHEEL_SIZE) bring_near(p);
    } else {
      return wheel_take(p, cycle);
    }
  }
  return NULL;
}
