/* SPDX-License-Identifier: Apache-2.0 */
#include "timer.h"

#include "memory.h"

enum { ENABLE = 1, RESET = 2, IRQ = 4, AUTO_CLEAR = 16, ONE_SHOT = 32, PRESCALE = 64, REFERENCE = 128 };
#define CASCADE 0x80000000u

static int is_cascaded(const struct timer *timer) { return (timer->low.config & CASCADE) != 0; }

/* Cluster cycles per count. */
static uint64_t period(const struct platform *platform, uint32_t config) {
  uint64_t cycles = 1;
  if (config & PRESCALE) cycles *= ((config >> 8) & 255) + 1;
  if (config & REFERENCE) cycles *= (uint64_t)platform->config.reference_clock_divider;
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
static void settle(const struct platform *platform, struct timer_counter *counter, uint64_t cycle, int wide) {
  if (counter->config & ENABLE) {
    uint64_t step = period(platform, counter->config);
    uint64_t elapsed = cycle - counter->cycle + counter->residue;
    counter->value += elapsed / step;
    counter->residue = elapsed % step;
    if (!wide) counter->value &= 0xffffffffu;
  }
  counter->cycle = cycle;
}

static void settle_both(const struct platform *platform, struct timer *timer, uint64_t cycle) {
  settle(platform, &timer->low, cycle, is_cascaded(timer));
  if (!is_cascaded(timer)) settle(platform, &timer->high, cycle, 0);
}

static uint64_t match_in(const struct platform *platform, const struct timer_counter *counter, uint64_t compare, int wide) {
  uint64_t step, distance;
  if ((counter->config & (ENABLE | IRQ)) != (ENABLE | IRQ)) return NEVER;
  step = period(platform, counter->config);
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
  uint64_t low, high, first;
  if (LIKELY(!((timer->low.config | timer->high.config) & IRQ))) return NEVER;
  low = match_in(platform, &timer->low, low_compare(timer), is_cascaded(timer));
  high = is_cascaded(timer) ? NEVER : match_in(platform, &timer->high, timer->high.compare, 0);
  first = low < high ? low : high;
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
    uint64_t low = match_in(platform, &timer->low, low_compare(timer), is_cascaded(timer));
    uint64_t high = is_cascaded(timer) ? NEVER : match_in(platform, &timer->high, timer->high.compare, 0);
    settle_both(platform, timer, low < high ? low : high);
    if (low <= high) matched(platform, timer, &timer->low, 0, cycle);
    if (high <= low && high != NEVER) matched(platform, timer, &timer->high, 1, cycle);
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

int timer_access(struct platform *platform, struct timer *timer, uint32_t offset, uint64_t cycle, int is_write,
                 uint32_t *value) {
  struct timer_counter *counter = offset & 4 ? &timer->high : &timer->low;
  int is_high_half = is_cascaded(timer) && (offset & 4);
  settle_both(platform, timer, own_clock(platform, timer, cycle));
  if (!is_write && offset > 0x14) return ACCESS_NOWHERE;
  switch (offset & ~4u) {
    case 0x00:
      if (is_write) set_config(counter, offset & 4 ? *value & ~CASCADE : *value);
      else *value = counter->config;
      return ACCESS_OK;
    case 0x08:
      if (!is_write) *value = (uint32_t)(is_high_half ? timer->low.value >> 32 : counter->value);
      else if (is_high_half) timer->low.value = (timer->low.value & 0xffffffffu) | (uint64_t)*value << 32;
      else counter->value = (offset & 4 ? 0 : counter->value & ~0xffffffffull) | *value;
      return ACCESS_OK;
    case 0x10: return register_word(&counter->compare, is_write, value);
    case 0x18: counter->config |= ENABLE; return ACCESS_OK;
    case 0x20: clear_counter(counter); return ACCESS_OK;
    default: return ACCESS_NOWHERE;
  }
}
