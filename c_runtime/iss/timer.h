/* SPDX-License-Identifier: Apache-2.0
 *
 * Timer unit with two 32-bit counters, cascadable to one of 64 bits. Counters are computed when read. */
#ifndef ISS_TIMER_H
#define ISS_TIMER_H

#include <stdint.h>

struct platform;

struct timer_counter {
  uint32_t config, compare;
  uint64_t value; /* counter at `cycle` */
  uint64_t cycle;
  uint64_t residue; /* clock cycles since `value` last changed, for the prescaler */
};

struct timer {
  struct timer_counter low, high;
  int is_cluster;
  uint32_t first_interrupt; /* controller timers: interrupt line of the low counter */
};

int timer_access(struct platform *platform, struct timer *timer, uint32_t offset, uint64_t cycle, int is_write,
                 uint32_t *value);
/* Next cycle at which a compare match raises an event. */
uint64_t timer_next(const struct platform *platform, const struct timer *timer);
void timer_advance(struct platform *platform, struct timer *timer, uint64_t cycle);

#endif /* ISS_TIMER_H */
