/* SPDX-License-Identifier: Apache-2.0 */
#include "platform.h"

#include <string.h>

#include "scheduler.h"
#include "snitch.h"

/* The first cycle of the hart's clock that is not before a cluster cycle. */
uint64_t local_cycle(const struct hart *hart, uint64_t cluster) {
  const struct config *config = &hart->platform->config;
  uint64_t numerator = (uint64_t)config->soc_clock_numerator;
  if (!hart->has_own_clock) return cluster;
  return (cluster * (uint64_t)config->soc_clock_denominator + numerator - 1) / numerator;
}

int platform_enter(struct hart *hart, uint32_t pc) {
  struct platform *platform = hart->platform;
  struct target target = resolve(platform, pc, view_of(hart));
  uint32_t region = target.window->place;
  if (region >= REGION_COUNT || pc % 2) return 0;
  hart->region = region;
  hart->pc_base = pc - target.offset;
  hart->slots = platform->region[region].slots;
  hart->code_bytes = platform->region[region].bytes;
  hart->resident = hart->resident_bits[region];
  hart->notes = platform->observer.notes[region];
  hart->ip = hart->slots + target.offset / 2;
  return 1;
}

uint32_t hart_pc(const struct hart *hart) {
  const struct slot *ip = hart->ip;
  if (!ip) return 0;
  if (ip >= hart->tail && ip < hart->tail + 4) ip = hart->tail_ip;
  return hart->pc_base + (uint32_t)((ip - hart->slots) * 2);
}

void platform_start_hart(struct platform *platform, struct hart *hart, uint32_t pc, uint64_t cycle) {
  uint64_t local = local_cycle(hart, cycle);
  hart->now = local;
  hart->start_cycle = local;
  hart->sleep_start = local;
  if (!platform_enter(hart, pc)) {
    platform_fault(platform, FAULT_FETCH, NULL, pc, "boot address of core %u holds no code memory",
                   (unsigned)hart->index);
    return;
  }
  hart->resume = hart->ip->handler;
  hart->state = HART_READY;
  hart->observed = 0;
  calls_start(hart, pc);
  /* The first fetch: the handler of an undecoded slot does it, a decoded one must not miss it. */
  if (hart->ip->op != OP_decode && platform->snitch)
    hart->now += snitch_fetch(hart, (uint32_t)(hart->ip - hart->slots) / SNITCH_LINE_SLOTS, hart->ip->lines, hart->now, 1);
  else if (hart->ip->op != OP_decode)
    hart->now += fetch_lines(hart, (uint32_t)(hart->ip - hart->slots) / LINE_SLOTS, hart->ip->lines, hart->now);
  queue_insert(platform, hart, cluster_cycle(hart, hart->now), platform->words);
}

void hart_sleep(struct hart *hart) {
  uint64_t cycle = hart->now;
  trace_core(hart, TRACE_CORE_ACTIVE, hart->now, 0);
  hart->state = HART_ASLEEP;
  hart->sleep_start = cycle;
}

void hart_block(struct hart *hart) {
  hart_sleep(hart);
  hart->state = HART_BLOCKED;
}

void hart_wake(struct hart *hart, uint64_t cycle) {
  uint64_t local = local_cycle(hart, cycle);
  if (local < hart->sleep_start) local = hart->sleep_start;
  if (hart->state == HART_ASLEEP) {
    /* The load that slept has its one cycle of issue in there. */
    if (local == hart->sleep_start) local++;
    hart->count.asleep += local - hart->sleep_start - 1;
  } else {
    hart->count.blocked += local - hart->sleep_start;
  }
  trace_core(hart, TRACE_CORE_ASLEEP, local, (uint64_t)hart->wait.kind);
  hart->sleep_start = local;
  hart->state = HART_READY;
  hart->now = local;
  queue_insert(hart->platform, hart, cluster_cycle(hart, hart->now), hart->platform->words);
}

void reset_slots(struct platform *platform) {
  for (uint32_t r = 0; r < REGION_COUNT; r++) {
    struct code_region *region = &platform->region[r];
    if (region->low < region->high)
      memset(region->slots + region->low, 0, (region->high - region->low) * sizeof(struct slot));
    region->low = region->bytes / 2;
    region->high = 0;
  }
  for (uint32_t i = 0; i < platform->hart_count; i++) {
    struct hart *hart = &platform->harts[i];
    hart->tail_valid = 0;
    if (hart->ip && !(hart->ip >= hart->tail && hart->ip < hart->tail + 4)) hart->resume = 0;
    for (uint32_t l = 0; l < 2; l++) /* loops that are active keep their ends */
      if (hart->loop[l].end_ip && hart->loop[l].count > 1) hart->loop[l].end_ip->wrap |= WRAP_LOOP_END;
  }
}

void raise_soc_event(struct platform *platform, uint32_t event) {
  struct hart *controller = &platform->harts[platform->config.cluster_cores];
  uint64_t cycle = platform->running ? cluster_cycle(platform->running, platform->running->now) : platform->device_cycle;
  if (event != NO_SOC_EVENT) {
    if (platform->event_fifo_count < 16) platform->event_fifo[platform->event_fifo_count++] = event;
    platform->interrupt_pending |= 1u << 26; /* SoC events arrive on interrupt 26 */
  }
  if (controller->state == HART_ASLEEP && (platform->interrupt_pending & platform->interrupt_mask)) {
    controller->wait.ready = 1;
    hart_wake(controller, cycle + (uint64_t)platform->config.events_wake);
  }
}

void platform_exit(struct platform *platform, uint32_t code, uint64_t cycle) {
  platform->exit_code = code;
  platform->end_cycle = cycle;
  platform->state = RUN_EXIT;
}

/* How far the run has come. */
uint64_t last_cycle(const struct platform *platform) {
  return platform->end_cycle > platform->wheel_base ? platform->end_cycle : platform->wheel_base;
}

void update_device_cycle(struct platform *platform) {
  uint64_t first = platform->snitch ? snitch_next(platform) : platform->dma.cycle, other;
  if ((other = peripherals_next(platform)) < first) first = other;
  if ((other = hyperbus_next(platform)) < first) first = other;
  for (uint32_t i = 0; i < 3; i++)
    if ((other = timer_next(platform, &platform->timers[i])) < first) first = other;
  platform->device_cycle = first;
  update_quiet(platform);
}

void run_devices(struct platform *platform, uint64_t until) {
  if (platform->snitch) {
    peripherals_advance(platform, until);
    snitch_advance(platform, until);
    update_device_cycle(platform);
    return;
  }
  /* An accelerator comes before the DMA where both want a bank in the same cycle. */
  peripherals_advance(platform, until);
  dma_advance(platform, until);
  hyperbus_advance(platform, until);
  for (uint32_t i = 0; i < 3; i++) timer_advance(platform, &platform->timers[i], until);
  update_device_cycle(platform);
}

/* Cycles in which the core's clock ran. */
uint64_t active_cycles(const struct hart *hart, uint64_t cycle) {
  if (hart->state == HART_OFF) return 0;
  return cycle - hart->start_cycle - hart->count.asleep;
}

uint64_t instructions_retired(const struct hart *hart, uint64_t cycle) {
  const struct hart_counters *count = &hart->count;
  const struct config *config = &hart->platform->config;
  uint64_t stalls = count->load_use + count->jump_register + count->multiply_divide + count->l1_conflict +
                    count->external_load_cycles + count->external_store_cycles + count->misaligned + count->icache +
                    count->event_load + count->blocked +
                    count->taken_branches * (uint64_t)config->timing_branch_taken_penalty +
                    count->jumps * (uint64_t)config->timing_jump_penalty;
  return active_cycles(hart, cycle) - stalls;
}
