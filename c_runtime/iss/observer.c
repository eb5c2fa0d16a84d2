/* SPDX-License-Identifier: Apache-2.0 */
#include "observer.h"

#include <stdlib.h>

#include "iss.h"
#include "memory.h"
#include "observed_access.h"

int observer_create(struct platform *platform) {
  struct observer *observer = &platform->observer;
  observer->step = NOBODY;
  if (!platform->config.observe) return 0;
  for (uint32_t r = 0; r < REGION_COUNT; r++) {
    observer->notes[r] = calloc(1, platform->region[r].bytes / 2 + 8);
    if (!observer->notes[r]) return -1;
  }
  return 0;
}

void observer_destroy(struct platform *platform) {
  for (uint32_t r = 0; r < REGION_COUNT; r++) free(platform->observer.notes[r]);
}

static int stop(struct observer *observer, enum stop_reason reason, uint32_t address) {
  observer->reason = reason;
  observer->address = address;
  observer->hit = STOP_NONE;
  observer->step = NOBODY;
  observer->attention = 0;
  return 1;
}

int observer_stops(struct hart *hart) {
  struct observer *observer = &hart->platform->observer;
  if (observer->hit) return stop(observer, observer->hit, observer->hit_address);
  if (hart->notes[hart->ip - hart->slots]) return stop(observer, STOP_BREAKPOINT, hart_pc(hart));
  if (observer->step == (int32_t)hart->index) return stop(observer, STOP_STEP, hart_pc(hart));
  if (__atomic_exchange_n(&observer->interrupted, 0, __ATOMIC_RELAXED))
    return stop(observer, STOP_INTERRUPT, hart_pc(hart));
  return 0;
}

void observer_range(struct observer *observer) {
  uint64_t low = UINT64_MAX, high = 0;
  for (uint32_t i = 0; i < observer->watch_count; i++) {
    const struct watch *watch = &observer->watch[i];
    uint64_t first = watch->address < 3 ? 0 : watch->address - 3; /* an access may begin before it */
    if (first < low) low = first;
    if ((uint64_t)watch->address + watch->bytes > high) high = (uint64_t)watch->address + watch->bytes;
  }
  observer->low = (uint32_t)low;
  observer->span = observer->watch_count ? (uint32_t)(high - low) : 0;
}

void observer_access(struct platform *platform, int agent, uint32_t address, uint32_t bytes, int is_write,
                     uint64_t cycle) {
  struct observer *observer = &platform->observer;
  for (uint32_t i = 0; i < observer->watch_count; i++) {
    const struct watch *watch = &observer->watch[i];
    uint32_t wanted = is_write ? WATCH_WRITE : WATCH_READ;
    if (address >= (uint64_t)watch->address + watch->bytes || watch->address >= (uint64_t)address + bytes) continue;
    if (watch->kinds & WATCH_MARK && is_write && agent >= 0)
      trace_event(&platform->trace, TRACE_MARK, 0, cycle, (address - watch->address) / 4);
    if (!(watch->kinds & wanted) || observer->hit) continue; /* the first since the last look */
    observer->hit = is_write ? STOP_WRITE : STOP_READ;
    observer->hit_address = address > watch->address ? address : watch->address;
    observer->attention = 1;
  }
}

void agent_access(struct platform *platform, int agent, uint32_t address, uint32_t bytes, int is_write, uint64_t cycle) {
  observer_access(platform, agent, address, bytes, is_write, cycle);
  written_access(platform, agent, address, bytes, is_write, cycle);
}

/* The entry of a register: its own or a free one; NULL when neither is near. */
static uint32_t *entry_of(struct observer *observer, uint32_t address) {
  for (uint32_t i = 0; i < 64; i++) {
    uint32_t *entry = observer->registers[(address / 4 * 2654435761u + i) % REGISTERS];
    if (entry[0] == address || !entry[0]) return entry;
  }
  return NULL;
}

void observer_register(struct observer *observer, uint32_t address, uint32_t value) {
  uint32_t *entry = entry_of(observer, address);
  if (!entry) return;
  entry[0] = address;
  entry[1] = value;
}

int iss_last_written(struct platform *platform, uint32_t address, uint32_t *value) {
  const uint32_t *entry = entry_of(&platform->observer, address & ~3u);
  if (!entry || !entry[0]) return -1;
  *value = entry[1];
  return 0;
}

void note_access(struct hart *hart, uint32_t address, uint32_t bytes, int is_write) {
  struct platform *platform = hart->platform;
  uint64_t cycle = cluster_cycle(hart, hart->now);
  observer_access(platform, (int)hart->index, address, bytes, is_write, cycle);
  if (hart->written && !is_write)
    written_check(platform, (int)hart->index, hart->is_controller ? REGION_L2 : REGION_L1, address - hart->fast_base,
                  bytes, cycle);
}

int iss_set_break(struct platform *platform, uint32_t address, int set) {
  uint32_t offset, region = region_at(platform, address, 1, &offset);
  if (!platform->config.observe || address % 2 || region == REGION_COUNT) return -1;
  platform->observer.notes[region][offset / 2] = set != 0;
  return 0;
}

int iss_watch(struct platform *platform, uint32_t address, uint32_t bytes, uint32_t kinds) {
  struct observer *observer = &platform->observer;
  if (!platform->config.observe || observer->watch_count == WATCHES || !bytes || !kinds) return -1;
  observer->watch[observer->watch_count].address = address;
  observer->watch[observer->watch_count].bytes = bytes;
  observer->watch[observer->watch_count++].kinds = kinds;
  observer_range(observer);
  return 0;
}

int iss_unwatch(struct platform *platform, uint32_t address, uint32_t bytes, uint32_t kinds) {
  struct observer *observer = &platform->observer;
  for (uint32_t i = 0; i < observer->watch_count; i++) {
    const struct watch *watch = &observer->watch[i];
    if (watch->address != address || watch->bytes != bytes || watch->kinds != kinds) continue;
    observer->watch[i] = observer->watch[--observer->watch_count];
    observer_range(observer);
    return 0;
  }
  return -1;
}

int iss_step(struct platform *platform, uint32_t core) {
  if (!platform->config.observe || core >= platform->hart_count) return -1;
  platform->observer.step = (int32_t)core;
  platform->observer.attention = 1;
  return 0;
}

void iss_interrupt(struct platform *platform) {
  __atomic_store_n(&platform->observer.interrupted, 1, __ATOMIC_RELAXED);
}

void iss_stop(const struct platform *platform, struct iss_stop *stop) {
  const struct observer *observer = &platform->observer;
  stop->reason = (uint32_t)observer->reason;
  stop->core = observer->stopped ? observer->stopped->index : 0;
  stop->address = observer->address;
}

uint32_t iss_core_state(const struct platform *platform, uint32_t core) { return (uint32_t)platform->harts[core].state; }

uint64_t iss_core_cycle(const struct platform *platform, uint32_t core) {
  const struct hart *hart = &platform->harts[core];
  return cluster_cycle(hart, hart->now);
}
