/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"
#include "pool.h"

static int inside(uint32_t offset, uint32_t base, uint32_t bytes) { return offset - base < bytes; }

/* Cluster control unit: boot addresses and fetch enable act, the rest is storage. */
static int control_access(struct hart *hart, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value) {
  struct platform *platform = hart->platform;
  uint32_t core = (offset - 0x40) / 4, cores = (uint32_t)platform->config.cluster_cores;
  if (offset >= 0x40 && core < cores) return register_word(&platform->harts[core].boot_address, is_write, value);
  switch (offset) {
    case 0x08:
      for (uint32_t i = 0; is_write && i < cores; i++)
        if ((*value >> i & 1) && platform->harts[i].state == HART_OFF)
          platform_start_hart(platform, &platform->harts[i], platform->harts[i].boot_address, cycle + 1);
      return register_word(&platform->fetch_enable, is_write, value);
    case 0x10:
      if (is_write) raise_soc_event(platform, *value & 0xff);
      return is_write ? ACCESS_OK : ACCESS_NOWHERE;
    case 0x00: case 0x18: case 0x20: case 0x28: case 0x38:
      return register_word(&platform->cluster_registers[offset / 4], is_write, value);
    default: return ACCESS_NOWHERE;
  }
}

/* Mask, pending and acknowledged. */
static int interrupts_access(struct platform *platform, uint32_t offset, int is_write, uint32_t *value) {
  uint32_t *const words[] = {&platform->interrupt_mask, &platform->interrupt_pending, &platform->interrupt_ack};
  if (offset == 0x24 && !is_write) {
    *value = platform->event_fifo_count ? platform->event_fifo[0] : 0;
    if (platform->event_fifo_count) platform->event_fifo_count--;
    for (uint32_t i = 0; i < platform->event_fifo_count; i++) platform->event_fifo[i] = platform->event_fifo[i + 1];
    return ACCESS_OK;
  }
  return offset < 0x24 ? register_bits(words[offset / 0xc], offset % 0xc, 4, is_write, value) : ACCESS_NOWHERE;
}

/* Registers that are storage, or act when they are written. */
static int soc_access(struct platform *platform, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value) {
  if (inside(offset, IO_DMA, 0x2000))
    return hyperbus_access(platform, offset - IO_DMA, cycle, is_write, value);
  if (inside(offset, INTERRUPTS, 0x800))
    return interrupts_access(platform, offset - INTERRUPTS, is_write, value);
  if (inside(offset, CONTROLLER_TIMER_0, 0x800))
    return timer_access(platform, &platform->timers[1], offset - CONTROLLER_TIMER_0, cycle, is_write, value);
  if (inside(offset, CONTROLLER_TIMER_1, 0x800))
    return timer_access(platform, &platform->timers[2], offset - CONTROLLER_TIMER_1, cycle, is_write, value);
  if (offset == SOC_CONTROL + 0x04) return register_word(&platform->controller_boot_address, is_write, value);
  if (offset == SOC_CONTROL + 0xa0) {
    if (is_write) platform->exit_code = *value & 0x7fffffff;
    if (is_write && *value >> 31) platform_exit(platform, platform->exit_code, cycle);
    if (!is_write) *value = platform->exit_code;
  } else if (offset == CONTROLLER_ICACHE) {
    if (is_write) platform->controller_cache_enabled = *value != 0;
    if (is_write) caches_flush(platform, 1);
    else *value = (uint32_t)platform->controller_cache_enabled;
  } else if (!is_write) {
    return offset == SOC_CONTROL + 0xc4 ? ACCESS_OK : ACCESS_NOWHERE; /* boot select: no pad is driven */
  } else if (offset == SOC_EVENTS) {
    raise_soc_event(platform, *value & 0xff);
  } else if (offset == CONTROLLER_ICACHE + 4) {
    caches_flush(platform, 1);
  } else if (inside(offset, STDOUT, 0x1000)) { /* core in bits 6:3, cluster above */
    guest_prints(platform, platform->running, (offset - STDOUT) >> 7 & 31, (offset - STDOUT) >> 3 & 15, (char)*value);
  } else {
    return ACCESS_NOWHERE;
  }
  return ACCESS_OK;
}

static int dma_access(struct hart *hart, uint32_t port, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value) {
  return is_write ? dma_write(hart, port, offset, cycle, *value) : dma_read(hart, port, offset, value);
}

static int cluster_access(struct hart *hart, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value) {
  struct platform *platform = hart->platform;
  if (inside(offset, CLUSTER_CONTROL, 0x400))
    return control_access(hart, offset, cycle, is_write, value);
  if (inside(offset, CLUSTER_TIMER, 0x400))
    return timer_access(platform, &platform->timers[0], offset - CLUSTER_TIMER, cycle, is_write, value);
  if (inside(offset, EVENT_UNIT, EVENT_UNIT_END - EVENT_UNIT))
    return event_global_access(hart, offset - EVENT_UNIT, cycle, is_write, value);
  if (offset == CLUSTER_ICACHE || (is_write && offset == CLUSTER_ICACHE + 4)) {
    /* Every core writes the first at start: only a change flushes. */
    int flushes = is_write && (offset != CLUSTER_ICACHE || platform->shared_cache.enabled != (*value != 0));
    if (is_write && offset == CLUSTER_ICACHE) platform->shared_cache.enabled = *value != 0;
    if (!is_write) *value = (uint32_t)platform->shared_cache.enabled;
    if (flushes) caches_flush(platform, 0);
    return ACCESS_OK;
  }
  if (inside(offset, DMA_GLOBAL, 0x400))
    return dma_access(hart, DMA_PORTS - 1, offset - DMA_GLOBAL, cycle, is_write, value);
  return ACCESS_NOWHERE;
}

static int engine_access(struct hart *hart, uint32_t address, uint64_t cycle, int is_write, uint32_t *value) {
  struct platform *platform = hart->platform;
  if (platform->snitch) return snitch_engine_access(hart, address, is_write, value);
  peripheral_access(peripheral_at(platform, address), address, hart->index, cycle, is_write, value);
  /* A register may say that a job is over, and one that takes no time is: what it wrote is then there. */
  if (platform->peripherals.claim_count) drop_claims(platform, cycle);
  return ACCESS_OK;
}

int register_access(struct hart *hart, struct target target, uint64_t cycle, int is_write, uint32_t *value) {
  uint32_t offset = target.offset;
  switch (target.window->place) {
    case PLACE_ZERO: return ACCESS_OK;
    case PLACE_CONSOLE:
      if (!is_write || offset) return ACCESS_NOWHERE;
      guest_prints(hart->platform, hart, hart->index / 16, hart->index % 16, (char)*value);
      return ACCESS_OK;
    case PLACE_CORE_PORT:
      if (offset >= DMA_CORE) return dma_access(hart, hart->index, offset - DMA_CORE, cycle, is_write, value);
      return event_core_access(hart, offset, cycle, is_write, value);
    case PLACE_ENGINE: return engine_access(hart, target.window->base + offset, cycle, is_write, value);
    case PLACE_CLUSTER: return cluster_access(hart, offset, cycle, is_write, value);
    case PLACE_APB: return soc_access(hart->platform, offset, cycle, is_write, value);
    case PLACE_SNITCH: return snitch_register_access(hart, offset, is_write, value);
    case PLACE_CLINT: return snitch_software_interrupts(hart, is_write, value);
    case PLACE_POOL: return pool_register_access(hart, offset, is_write, value);
    default: return ACCESS_NOWHERE;
  }
}
