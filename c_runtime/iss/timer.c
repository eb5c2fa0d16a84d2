/* SPDX-License-Identifier: Apache-2.0 */
#include "timer.h"

#include "memory.h"

enum { ENABLE = 1, RESET = 2, IRQ = 4, AUTO_CLEAR = 16, ONE_SHOT = 32, PRESCALE = 64, REFERENCE = 128 };
#define CASCADE 0x80000000u

static int is_cascaded(const struct timer *timer) { return (timer->low.config & CASCADE) != 0; }

/* Cluster cycles per count. */
static uint64_t period(const struct platform *platform, const struct timer *timer, uint32_t config) {
  uint64_t cycles = 1;
  if (config & PRESCALE) cycles *= ((config >> 8) & 255) + 1;
  if (config & REFERENCE) cycles *= (uint64_t)platform->config.reference_clock_divider;
  (void)timer;
  return cycles;
}

/* Device time is in cluster cycles; the controller's timers count SoC cycles. */
static uint64_t own_clock(const struct platform *platform, const struct timer *timer, uint64_t cycle) {
  if (timer->is_cluster) return cycle;
  return cycle * (uint64_t)platform->config.soc_clock_denominator / (uint64_t)platform->config.soc_clock_numerator;
}

static uint64_t cluster_clock(const struct platform *platform, const struct timer *timer, uint64_t cycle) {
  uint64_t numerator = (uint64_t)platform->config.soc_clock_numerator;
  uint64_t denominator = (uint64_t)platform->config.soc_clock_denominator;
  if (timer->is_cluster) return cycle;
  return (cycle * numerator + denominator - 1) / denominator;
}

/* Bring one counter to a cycle of its own clock. */
static void settle(const struct platform *platform, const struct timer *timer, struct timer_counter *counter,
                   uint64_t cycle, int wide) {
  if (counter->config & ENABLE) {
    uint64_t step = period(platform, timer, counter->config);
    uint64_t elapsed = cycle - counter->cycle + counter->residue;
    counter->value += elapsed / step;
    counter->residue = elapsed % step;
    if (!wide) counter->value &= 0xffffffffu;
  }
  counter->cycle = cycle;
}

static void settle_both(const struct platform *platform, struct timer *timer, uint64_t cycle) {
  settle(platform, timer, &timer->low, cycle, is_cascaded(timer));
  if (!is_cascaded(timer)) settle(platform, timer, &timer->high, cycle, 0);
}

static uint64_t match_in(const struct platform *platform, const struct timer *timer,
                         const struct timer_counter *counter, uint64_t compare, int wide) {
  uint64_t step = period(platform, timer, counter->config), distance;
  if (!(counter->config & ENABLE) || !(counter->config & IRQ)) return NEVER;
  distance = compare - counter->value;
  if (!wide) distance &= 0xffffffffu;
  if (distance == 0) distance = wide ? NEVER : 0x100000000ull;
  if (distance > NEVER / 4 / step) return NEVER;
  return counter->cycle + distance * step - counter->residue;
}

static uint64_t low_compare(const struct timer *timer) {
  return is_cascaded(timer) ? (uint64_t)timer->high.compare << 32 | timer->low.compare : timer->low.compare;
}

uint64_t timer_next(const struct platform *platform, const struct timer *timer) {
  uint64_t low = match_in(platform, timer, &timer->low, low_compare(timer), is_cascaded(timer));
  uint64_t high = is_cascaded(timer) ? NEVER : match_in(platform, timer, &timer->high, timer->high.compare, 0);
  uint64_t first = low < high ? low : high;
  return first == NEVER ? NEVER : cluster_clock(platform, timer, first);
}

static void matched(struct platform *platform, struct timer *timer, struct timer_counter *counter, uint32_t line,
                    uint64_t cycle) {
  if (counter->config & AUTO_CLEAR) counter->value = 0;
  if (counter->config & ONE_SHOT) counter->config &= ~(uint32_t)ENABLE;
  if (timer->is_cluster) {
    event_raise(platform, ~0u, EVENT_TIMER_LOW + line, cycle);
  } else {
    platform->interrupt_pending |= 1u << (timer->first_interrupt + line);
    raise_soc_event(platform, NO_SOC_EVENT);
  }
}

void timer_advance(struct platform *platform, struct timer *timer, uint64_t cycle) {
  while (timer_next(platform, timer) <= cycle) {
    uint64_t low = match_in(platform, timer, &timer->low, low_compare(timer), is_cascaded(timer));
    uint64_t high = is_cascaded(timer) ? NEVER : match_in(platform, timer, &timer->high, timer->high.compare, 0);
    settle_both(platform, timer, low < high ? low : high);
    if (low <= high) matched(platform, timer, &timer->low, 0, cycle);
    if (high <= low && high != NEVER) matched(platform, timer, &timer->high, 1, cycle);
  }
}

int timer_read(struct platform *platform, struct timer *timer, uint32_t offset, uint64_t cycle, uint32_t *value) {
  settle_both(platform, timer, own_clock(platform, timer, cycle));
  switch (offset) {
    case 0x00: *value = timer->low.config; return ACCESS_OK;
    case 0x04: *value = timer->high.config; return ACCESS_OK;
    case 0x08: *value = (uint32_t)timer->low.value; return ACCESS_OK;
    case 0x0c: *value = (uint32_t)(is_cascaded(timer) ? timer->low.value >> 32 : timer->high.value); return ACCESS_OK;
    case 0x10: *value = timer->low.compare; return ACCESS_OK;
    case 0x14: *value = timer->high.compare; return ACCESS_OK;
    default: return ACCESS_NOWHERE;
  }
}

static void clear_counter(struct timer_counter *counter) {
  counter->value = 0;
  counter->residue = 0;
}

static void set_config(struct timer_counter *counter, uint32_t value) {
  if (value & RESET) clear_counter(counter);
  if ((value ^ counter->config) & (PRESCALE | REFERENCE | 0xff00)) counter->residue = 0;
  counter->config = value & ~(uint32_t)RESET;
}

int timer_write(struct platform *platform, struct timer *timer, uint32_t offset, uint64_t cycle, uint32_t value) {
  settle_both(platform, timer, own_clock(platform, timer, cycle));
  switch (offset) {
    case 0x00: set_config(&timer->low, value); return ACCESS_OK;
    case 0x04: set_config(&timer->high, value & ~CASCADE); return ACCESS_OK;
    case 0x08:
      timer->low.value = (timer->low.value & ~0xffffffffull) | value;
      return ACCESS_OK;
    case 0x0c:
      if (is_cascaded(timer)) timer->low.value = (timer->low.value & 0xffffffffu) | (uint64_t)value << 32;
      else timer->high.value = value;
      return ACCESS_OK;
    case 0x10: timer->low.compare = value; return ACCESS_OK;
    case 0x14: timer->high.compare = value; return ACCESS_OK;
    case 0x18: timer->low.config |= ENABLE; return ACCESS_OK;
    case 0x1c: timer->high.config |= ENABLE; return ACCESS_OK;
    case 0x20: clear_counter(&timer->low); return ACCESS_OK;
    case 0x24: clear_counter(&timer->high); return ACCESS_OK;
    default: return ACCESS_NOWHERE;
  }
}
