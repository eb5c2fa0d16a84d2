/* SPDX-License-Identifier: Apache-2.0 */
#include "event_unit.h"

#include <string.h>

#include "memory.h"

static uint64_t wake_cycle(const struct hart *hart, uint64_t cycle) {
  const struct config *config = &hart->platform->config;
  /* An event load takes its minimum time even when the event arrives right after it was issued. */
  uint64_t earliest = cluster_cycle(hart, hart->now) + (uint64_t)config->timing_event_load;
  uint64_t woken = cycle + (uint64_t)config->events_wake;
  return woken > earliest ? woken : earliest;
}

static void answer(struct hart *hart, uint32_t value, uint64_t cycle) {
  hart->wait.value = value;
  hart->wait.ready = 1;
  hart_wake(hart, wake_cycle(hart, cycle));
}

static uint32_t pop_dispatch(struct core_events *events) {
  uint32_t word = events->fifo[0];
  events->fifo_count--;
  memmove(events->fifo, events->fifo + 1, events->fifo_count * sizeof events->fifo[0]);
  if (!events->fifo_count) events->buffer &= ~(1u << EVENT_DISPATCH);
  return word;
}

static uint32_t take_masked(struct core_events *events, int clear) {
  uint32_t masked = events->buffer & events->mask;
  if (clear) events->buffer &= ~events->mask;
  return masked;
}

/* Cores stalled on a full dispatch FIFO try again. */
static void release_pushers(struct platform *platform, uint64_t cycle) {
  uint32_t cores = platform->events.blocked_pushers;
  platform->events.blocked_pushers = 0;
  for (; cores; cores &= cores - 1) hart_wake(&platform->harts[__builtin_ctz(cores)], cycle + 1);
}

/* Wake the hart if what it waits for has come. */
static void check_sleeper(struct hart *hart, uint64_t cycle) {
  struct platform *platform = hart->platform;
  struct core_events *events = &platform->events.core[hart->index];
  uint32_t masked = events->buffer & events->mask;
  if (hart->state != HART_ASLEEP) return;
  switch (hart->wait.kind) {
    case WAIT_EVENT:
    case WAIT_EVENT_CLEAR:
      if (masked) answer(hart, take_masked(events, hart->wait.kind == WAIT_EVENT_CLEAR), cycle);
      break;
    case WAIT_DISPATCH:
      if (events->fifo_count && (masked & 1u << EVENT_DISPATCH)) {
        answer(hart, pop_dispatch(events), cycle);
        release_pushers(platform, cycle);
      }
      break;
    case WAIT_INTERRUPT:
      if (masked || (events->buffer & events->irq_mask)) answer(hart, 0, cycle);
      break;
    default: break;
  }
}

void event_raise(struct platform *platform, uint32_t cores, uint32_t line, uint64_t cycle) {
  cores &= (1u << platform->config.cluster_cores) - 1;
  for (; cores; cores &= cores - 1) {
    uint32_t core = (uint32_t)__builtin_ctz(cores);
    platform->events.core[core].buffer |= 1u << line;
    check_sleeper(&platform->harts[core], cycle);
  }
}

static int sleep_on(struct hart *hart, enum wait_kind kind) {
  hart->wait.kind = kind;
  hart_sleep(hart);
  return ACCESS_SLEEP;
}

/* An event load that is answered without sleep. */
static int answered(struct hart *hart, uint32_t *value, uint32_t result, int64_t cycles) {
  uint64_t extra = (uint64_t)cycles - 1;
  *value = result;
  hart->now += extra;
  hart->count.event_load += extra;
  return ACCESS_OK;
}

static int wait_event(struct hart *hart, int clear, uint32_t *value) {
  struct core_events *events = &hart->platform->events.core[hart->index];
  if (events->buffer & events->mask)
    return answered(hart, value, take_masked(events, clear), hart->platform->config.timing_event_load);
  return sleep_on(hart, clear ? WAIT_EVENT_CLEAR : WAIT_EVENT);
}

/* Barriers. */
static void barrier_arrive(struct platform *platform, struct barrier *barrier, uint32_t cores, uint64_t cycle) {
  barrier->status |= cores;
  if (!barrier->trigger_mask || barrier->status != barrier->trigger_mask) return;
  barrier->status = 0;
  event_raise(platform, barrier->target_mask, EVENT_BARRIER, cycle);
}

static int barrier_access(struct hart *hart, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value) {
  struct platform *platform = hart->platform;
  struct barrier *barrier = &platform->events.barrier[offset / 0x20];
  uint32_t self = hart->is_controller ? 0 : 1u << hart->index, number = offset % 0x20;
  if (number == 0x00) return register_word(&barrier->trigger_mask, is_write, value);
  if (number == 0x0c) return register_word(&barrier->target_mask, is_write, value);
  if (is_write ? number != 0x10 && number != 0x14 : number == 0x10) return ACCESS_NOWHERE;
  switch (number) {
    case 0x04: *value = barrier->status; return ACCESS_OK;
    case 0x08:
      for (uint32_t i = 0; i < BARRIERS; i++) *value |= platform->events.barrier[i].status;
      return ACCESS_OK;
    case 0x10: barrier_arrive(platform, barrier, *value, cycle); return ACCESS_OK;
    case 0x14: barrier_arrive(platform, barrier, self, cycle); return ACCESS_OK;
    default: /* 0x18, 0x1c */
      if (!self) return ACCESS_NOWHERE;
      barrier_arrive(platform, barrier, self, cycle);
      return wait_event(hart, number == 0x1c, value);
  }
}

/* Mutexes: an unlocked mutex with waiting cores passes to the one with the lowest number. */
static int mutex_lock(struct hart *hart, uint32_t number, uint32_t *value) {
  struct mutex *mutex = &hart->platform->events.mutex[number % MUTEXES];
  if (!mutex->locked) {
    mutex->locked = 1;
    return answered(hart, value, mutex->value, hart->platform->config.events_answer);
  }
  mutex->waiting |= 1u << hart->index;
  hart->wait.mutex = number % MUTEXES;
  return sleep_on(hart, WAIT_MUTEX);
}

static void mutex_unlock(struct platform *platform, uint32_t number, uint64_t cycle, uint32_t value) {
  struct mutex *mutex = &platform->events.mutex[number % MUTEXES];
  mutex->value = value;
  mutex->locked = 0;
  for (uint32_t waiting = mutex->waiting; waiting; waiting &= waiting - 1) {
    uint32_t core = (uint32_t)__builtin_ctz(waiting);
    if (!(platform->events.core[core].mask & 1u << EVENT_MUTEX)) continue; /* masked: nothing wakes it */
    mutex->waiting &= ~(1u << core);
    mutex->locked = 1;
    answer(&platform->harts[core], value, cycle);
    return;
  }
}

/* Dispatch: every core of the team gets the word in its own queue. A core that pushes to a team it belongs to keeps
 * only the newest words, so that it never waits for itself. */
static int dispatch_push(struct hart *hart, uint64_t cycle, uint32_t word) {
  struct platform *platform = hart->platform;
  uint32_t team = platform->events.team & ((1u << platform->config.cluster_cores) - 1);
  for (uint32_t rest = team & ~(1u << hart->index); rest; rest &= rest - 1) {
    if (platform->events.core[__builtin_ctz(rest)].fifo_count < DISPATCH_DEPTH) continue;
    platform->events.blocked_pushers |= 1u << hart->index;
    hart_block(hart);
    return ACCESS_BLOCKED;
  }
  for (uint32_t rest = team; rest; rest &= rest - 1) {
    uint32_t core = (uint32_t)__builtin_ctz(rest);
    struct core_events *events = &platform->events.core[core];
    if (events->fifo_count == DISPATCH_DEPTH) pop_dispatch(events);
    events->fifo[events->fifo_count++] = word;
    event_raise(platform, 1u << core, EVENT_DISPATCH, cycle);
  }
  return ACCESS_OK;
}

/* Registers 0x00..0x3C of one core, through either port. */
static int core_register(struct platform *platform, uint32_t core, uint32_t offset, uint64_t cycle, int is_write,
                         uint32_t *value) {
  struct core_events *events = &platform->events.core[core];
  int status = ACCESS_OK;
  if (offset < 0x18) {
    status = register_bits(offset < 0xc ? &events->mask : &events->irq_mask, offset % 0xc, 8, is_write, value);
  } else if (is_write) {
    if (offset != 0x28) return ACCESS_NOWHERE;
    events->buffer &= ~*value;
  } else {
    switch (offset) {
      case 0x18: *value = platform->harts[core].state == HART_READY; break;
      case 0x1c: *value = events->buffer; break;
      case 0x20: *value = events->buffer & events->mask; break;
      case 0x24: *value = events->buffer & events->irq_mask; break;
      default: return ACCESS_NOWHERE;
    }
  }
  if (is_write) check_sleeper(&platform->harts[core], cycle); /* a new mask may let a pending event through */
  return status;
}

static int software_event(struct platform *platform, uint32_t event, uint64_t cycle, uint32_t cores) {
  if (!cores) cores = ~0u;
  event_raise(platform, cores, event, cycle + (uint64_t)platform->config.events_software_delay);
  return ACCESS_OK;
}

int event_core_access(struct hart *hart, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value) {
  struct platform *platform = hart->platform;
  struct core_events *events = &platform->events.core[hart->index];
  if (offset < 0x38) return core_register(platform, hart->index, offset, cycle, is_write, value);
  if (!is_write && (offset == 0x38 || offset == 0x3c)) return wait_event(hart, offset == 0x3c, value);
  if (offset == 0x80) {
    if (is_write) return dispatch_push(hart, cycle, *value);
    if (!events->fifo_count) return sleep_on(hart, WAIT_DISPATCH);
    answered(hart, value, pop_dispatch(events), platform->config.events_answer);
    release_pushers(platform, cycle);
    return ACCESS_OK;
  }
  if (offset == 0x84) return register_word(&platform->events.team, is_write, value);
  if (offset >= 0xc0 && offset < 0x100) {
    if (!is_write) return mutex_lock(hart, (offset - 0xc0) / 4, value);
    mutex_unlock(platform, (offset - 0xc0) / 4, cycle, *value);
    return ACCESS_OK;
  }
  if (is_write && offset >= 0x100 && offset < 0x120) return software_event(platform, (offset - 0x100) / 4, cycle, *value);
  if (offset >= 0x200 && offset < 0x200 + BARRIERS * 0x20)
    return barrier_access(hart, offset - 0x200, cycle, is_write, value);
  return ACCESS_NOWHERE;
}

int event_global_access(struct hart *hart, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value) {
  if (offset < 0x40 * (uint32_t)hart->platform->config.cluster_cores)
    return core_register(hart->platform, offset / 0x40, offset % 0x40, cycle, is_write, value);
  if (offset >= 0x400 && offset < 0x400 + BARRIERS * 0x20) {
    if (offset % 0x20 >= 0x14) return ACCESS_NOWHERE; /* arriving and waiting need a core of their own */
    return barrier_access(hart, offset - 0x400, cycle, is_write, value);
  }
  if (is_write && offset >= 0x600 && offset < 0x620)
    return software_event(hart->platform, (offset - 0x600) / 4, cycle, *value);
  return is_write || offset != 0x700 ? ACCESS_NOWHERE : ACCESS_OK; /* events of the SoC: none arrive here */
}
