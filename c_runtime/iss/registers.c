/* SPDX-License-Identifier: Apache-2.0 */
#include "registers.h"

static int inside(uint32_t offset, uint32_t base, uint32_t bytes) { return offset - base < bytes; }

/* Cluster control unit: boot addresses and fetch enable act, the rest is storage. */
static int control_read(struct platform *platform, uint32_t offset, uint32_t *value) {
  uint32_t core = (offset - 0x40) / 4;
  if (offset >= 0x40 && core < (uint32_t)platform->config.cluster_cores) {
    *value = platform->harts[core].boot_address;
    return ACCESS_OK;
  }
  switch (offset) {
    case 0x08: *value = platform->fetch_enable; return ACCESS_OK;
    case 0x00: case 0x18: case 0x20: case 0x28: case 0x38:
      *value = platform->cluster_registers[offset / 4];
      return ACCESS_OK;
    default: return ACCESS_NOWHERE;
  }
}

static int control_write(struct hart *hart, uint32_t offset, uint64_t cycle, uint32_t value) {
  struct platform *platform = hart->platform;
  uint32_t core = (offset - 0x40) / 4;
  if (offset >= 0x40 && core < (uint32_t)platform->config.cluster_cores) {
    platform->harts[core].boot_address = value;
    return ACCESS_OK;
  }
  switch (offset) {
    case 0x08:
      platform->fetch_enable = value;
      for (uint32_t i = 0; i < (uint32_t)platform->config.cluster_cores; i++)
        if ((value >> i & 1) && platform->harts[i].state == HART_OFF)
          platform_start_hart(platform, &platform->harts[i], platform->harts[i].boot_address, cycle + 1);
      return ACCESS_OK;
    case 0x10: raise_soc_event(platform, value & 0xff); return ACCESS_OK;
    case 0x00: case 0x18: case 0x20: case 0x28: case 0x38:
      platform->cluster_registers[offset / 4] = value;
      return ACCESS_OK;
    default: return ACCESS_NOWHERE;
  }
}

static int interrupts_read(struct platform *platform, uint32_t offset, uint32_t *value) {
  switch (offset) {
    case 0x00: *value = platform->interrupt_mask; return ACCESS_OK;
    case 0x0c: *value = platform->interrupt_pending; return ACCESS_OK;
    case 0x18: *value = platform->interrupt_ack; return ACCESS_OK;
    case 0x24:
      *value = platform->event_fifo_count ? platform->event_fifo[0] : 0;
      if (platform->event_fifo_count) platform->event_fifo_count--;
      for (uint32_t i = 0; i < platform->event_fifo_count; i++) platform->event_fifo[i] = platform->event_fifo[i + 1];
      return ACCESS_OK;
    default: return ACCESS_NOWHERE;
  }
}

static int interrupts_write(struct platform *platform, uint32_t offset, uint32_t value) {
  switch (offset) {
    case 0x00: platform->interrupt_mask = value; return ACCESS_OK;
    case 0x04: platform->interrupt_mask |= value; return ACCESS_OK;
    case 0x08: platform->interrupt_mask &= ~value; return ACCESS_OK;
    case 0x0c: platform->interrupt_pending = value; return ACCESS_OK;
    case 0x10: platform->interrupt_pending |= value; return ACCESS_OK;
    case 0x14: platform->interrupt_pending &= ~value; return ACCESS_OK;
    case 0x18: platform->interrupt_ack = value; return ACCESS_OK;
    case 0x1c: platform->interrupt_ack |= value; return ACCESS_OK;
    case 0x20: platform->interrupt_ack &= ~value; return ACCESS_OK;
    default: return ACCESS_NOWHERE;
  }
}

static int soc_read(struct platform *platform, uint32_t offset, uint64_t cycle, uint32_t *value) {
  *value = 0;
  if (inside(offset, IO_DMA, 0x2000)) return hyperbus_read(platform, offset - IO_DMA, cycle, value);
  if (offset == SOC_CONTROL + 0x04) { *value = platform->controller_boot_address; return ACCESS_OK; }
  if (offset == SOC_CONTROL + 0xa0) { *value = platform->exit_code; return ACCESS_OK; }
  if (offset == SOC_CONTROL + 0xc4) return ACCESS_OK; /* boot select: no pad is driven */
  if (offset == CONTROLLER_ICACHE) { *value = (uint32_t)platform->controller_cache_enabled; return ACCESS_OK; }
  if (inside(offset, INTERRUPTS, 0x800)) return interrupts_read(platform, offset - INTERRUPTS, value);
  if (inside(offset, CONTROLLER_TIMER_0, 0x800))
    return timer_read(platform, &platform->timers[1], offset - CONTROLLER_TIMER_0, cycle, value);
  if (inside(offset, CONTROLLER_TIMER_1, 0x800))
    return timer_read(platform, &platform->timers[2], offset - CONTROLLER_TIMER_1, cycle, value);
  return ACCESS_NOWHERE;
}

static int soc_write(struct platform *platform, uint32_t offset, uint64_t cycle, uint32_t value) {
  if (inside(offset, IO_DMA, 0x2000)) return hyperbus_write(platform, offset - IO_DMA, cycle, value);
  if (offset == SOC_CONTROL + 0x04) { platform->controller_boot_address = value; return ACCESS_OK; }
  if (offset == SOC_CONTROL + 0xa0) {
    platform->exit_code = value & 0x7fffffff;
    if (value >> 31) platform_exit(platform, platform->exit_code, cycle);
    return ACCESS_OK;
  }
  if (offset == SOC_EVENTS) { raise_soc_event(platform, value & 0xff); return ACCESS_OK; }
  if (offset == CONTROLLER_ICACHE) {
    platform->controller_cache_enabled = value != 0;
    caches_flush(platform, 1);
    return ACCESS_OK;
  }
  if (offset == CONTROLLER_ICACHE + 4) { caches_flush(platform, 1); return ACCESS_OK; }
  if (inside(offset, INTERRUPTS, 0x800)) return interrupts_write(platform, offset - INTERRUPTS, value);
  if (inside(offset, CONTROLLER_TIMER_0, 0x800))
    return timer_write(platform, &platform->timers[1], offset - CONTROLLER_TIMER_0, cycle, value);
  if (inside(offset, CONTROLLER_TIMER_1, 0x800))
    return timer_write(platform, &platform->timers[2], offset - CONTROLLER_TIMER_1, cycle, value);
  if (inside(offset, STDOUT, 0x1000)) { /* core in bits 6:3, cluster above */
    output_character(&platform->output, (offset - STDOUT) >> 7 & 31, (offset - STDOUT) >> 3 & 15, (char)value);
    if (output_is_full(&platform->output))
      platform_fault(platform, FAULT_PERIPHERAL, platform->running, 0, "the program has printed more than 64 MiB");
    return ACCESS_OK;
  }
  return ACCESS_NOWHERE;
}

int register_read(struct hart *hart, int apb, uint32_t offset, uint64_t cycle, uint32_t *value) {
  struct platform *platform = hart->platform;
  struct peripheral *peripheral;
  *value = 0;
  if (apb) return soc_read(platform, offset, cycle, value);
  if (inside(offset, CORE_PORTS, CORE_PORTS_END - CORE_PORTS)) {
    if (hart->is_controller) return ACCESS_NOWHERE;
    if (offset < DMA_CORE) return event_core_read(hart, offset - CORE_PORTS, cycle, value);
    return dma_read(hart, hart->index, offset - DMA_CORE, cycle, value);
  }
  if (inside(offset, CLUSTER_CONTROL, 0x400)) return control_read(platform, offset, value);
  if (inside(offset, CLUSTER_TIMER, 0x400))
    return timer_read(platform, &platform->timers[0], offset - CLUSTER_TIMER, cycle, value);
  if (inside(offset, EVENT_UNIT, EVENT_UNIT_END - EVENT_UNIT))
    return event_global_read(hart, offset - EVENT_UNIT, cycle, value);
  if (offset == CLUSTER_ICACHE) { *value = (uint32_t)platform->shared_cache.enabled; return ACCESS_OK; }
  if (inside(offset, DMA_GLOBAL, 0x400)) return dma_read(hart, DMA_PORTS - 1, offset - DMA_GLOBAL, cycle, value);
  peripheral = peripheral_at(platform, (uint32_t)platform->config.memory_l1_base + 0x200000 + offset);
  if (!peripheral) return ACCESS_NOWHERE;
  *value = peripheral->model->read(peripheral->self,
                                   (uint32_t)platform->config.memory_l1_base + 0x200000 + offset - peripheral->base,
                                   hart->index, cycle);
  /* The register may say that a job is over: what it wrote is then there. */
  if (platform->peripherals.claim_count) drop_claims(platform, cycle);
  return ACCESS_OK;
}

int register_write(struct hart *hart, int apb, uint32_t offset, uint64_t cycle, uint32_t value) {
  struct platform *platform = hart->platform;
  struct peripheral *peripheral;
  if (apb) return soc_write(platform, offset, cycle, value);
  if (inside(offset, CORE_PORTS, CORE_PORTS_END - CORE_PORTS)) {
    if (hart->is_controller) return ACCESS_NOWHERE;
    if (offset < DMA_CORE) return event_core_write(hart, offset - CORE_PORTS, cycle, value);
    return dma_write(hart, hart->index, offset - DMA_CORE, cycle, value);
  }
  if (inside(offset, CLUSTER_CONTROL, 0x400)) return control_write(hart, offset, cycle, value);
  if (inside(offset, CLUSTER_TIMER, 0x400))
    return timer_write(platform, &platform->timers[0], offset - CLUSTER_TIMER, cycle, value);
  if (inside(offset, EVENT_UNIT, EVENT_UNIT_END - EVENT_UNIT))
    return event_global_write(hart, offset - EVENT_UNIT, cycle, value);
  if (offset == CLUSTER_ICACHE) {
    /* Every core writes this at start: only a change flushes. */
    if (platform->shared_cache.enabled != (value != 0)) {
      platform->shared_cache.enabled = value != 0;
      caches_flush(platform, 0);
    }
    return ACCESS_OK;
  }
  if (offset == CLUSTER_ICACHE + 4) { caches_flush(platform, 0); return ACCESS_OK; }
  if (inside(offset, DMA_GLOBAL, 0x400)) return dma_write(hart, DMA_PORTS - 1, offset - DMA_GLOBAL, cycle, value);
  peripheral = peripheral_at(platform, (uint32_t)platform->config.memory_l1_base + 0x200000 + offset);
  if (!peripheral) return ACCESS_NOWHERE;
  peripheral->model->write(peripheral->self,
                           (uint32_t)platform->config.memory_l1_base + 0x200000 + offset - peripheral->base, value,
                           hart->index, cycle);
  /* A job that takes no time is over. */
  if (platform->peripherals.claim_count) drop_claims(platform, cycle);
  return ACCESS_OK;
}
