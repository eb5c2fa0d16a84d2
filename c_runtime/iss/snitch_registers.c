/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of a Snitch cluster: performance counters, interrupts of the cluster, the accelerator's lines. */
#include "memory.h"
#include "snitch.h"

enum { ENABLE = 0x000, HART_SELECT = 0x080, COUNTER = 0x100, INTERRUPT_SET = 0x180, INTERRUPT_CLEAR = 0x188,
       HARDWARE_BARRIER = 0x190, PREFETCH = 0x198, ENGINE_EVENT = 0x1a0, ENGINE_BUSY = 0x1a8,
       SOFTWARE_INTERRUPT = 3, CLUSTER_INTERRUPT = 19, ENGINE_STATUS = 0x0c };

static uint64_t accesses_of_l1(const struct platform *platform) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < platform->hart_count; i++) {
    const struct hart_counters *count = &platform->harts[i].count;
    sum += count->loads + count->stores - count->external_loads - count->external_stores;
  }
  return sum;
}

static uint64_t congestion(const struct platform *platform) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < platform->hart_count; i++) sum += platform->snitch->core[i].congested;
  return sum;
}

static uint64_t dma_busy(const struct platform *platform, uint64_t cycle) {
  const struct snitch_dma *dma = &platform->snitch->dma;
  uint64_t sum = platform->dma.busy_cycles[0] + platform->dma.busy_cycles[1];
  if (dma->count && cycle > dma->transfer[dma->first].start) sum += cycle - dma->transfer[dma->first].start;
  return sum;
}

/* Metrics of float units and stalls of a DMA that never stalls are 0. */
static uint64_t metric(struct platform *platform, uint32_t number, uint32_t index, uint64_t cycle) {
  const struct hart *hart = &platform->harts[index % platform->hart_count];
  const struct snitch_core *core = &platform->snitch->core[hart->index];
  const struct snitch_dma *dma = &platform->snitch->dma;
  uint64_t retired = hart->state == HART_OFF ? 0 : instructions_retired(hart, hart->now);
  switch (number) {
    case 0: return cycle;
    case 1: return accesses_of_l1(platform);
    case 2: return congestion(platform);
    case 6: return retired;
    case 7: return hart->count.loads;
    case 8: return retired - hart->count.loads - core->multiplications;
    case 9: return core->multiplications;
    case 16: case 18: case 24: return dma->bursts;
    case 20: case 22: return dma->beats;
    case 17: case 19: case 21: case 23: return dma->bytes;
    case 25: return dma_busy(platform, cycle);
    case 26: return core->l0_misses;
    case 27: return retired > core->l0_misses ? retired - core->l0_misses : 0;
    case 30: return hart->count.icache;
    default: return 0;
  }
}

static uint64_t counted(struct platform *platform, const struct snitch_counter *counter, uint64_t cycle) {
  if (!counter->enable) return counter->value;
  return counter->value + metric(platform, (uint32_t)__builtin_ctz(counter->enable), counter->hart, cycle) - counter->base;
}

/* Keep what was counted and start anew, with another metric or hart. */
static void restart(struct platform *platform, struct snitch_counter *counter, uint32_t enable, uint32_t hart,
                    uint64_t value, uint64_t cycle) {
  counter->value = value;
  counter->enable = enable;
  counter->hart = hart;
  if (enable) counter->base = metric(platform, (uint32_t)__builtin_ctz(enable), hart, cycle);
}

static uint32_t engines_busy(struct hart *hart, uint64_t cycle) {
  struct peripherals *all = &hart->platform->peripherals;
  /* A job that ends in this very cycle is over, and whoever watches jobs sees it end. */
  if (peripherals_next(hart->platform) <= cycle) peripherals_advance(hart->platform, cycle);
  for (uint32_t i = 0; i < all->count; i++)
    if (all->item[i].model->read(all->item[i].self, ENGINE_STATUS, hart->index, cycle)) return 1;
  return 0;
}

static void set_cluster_interrupts(struct hart *hart, uint32_t pending, uint64_t cycle) {
  struct platform *platform = hart->platform;
  platform->snitch->cluster_interrupts = pending;
  for (uint32_t i = 0; i < platform->hart_count; i++)
    snitch_interrupt(platform, i, CLUSTER_INTERRUPT, (int)(pending >> i & 1), cycle);
}

/* A write restarts a counter: with another metric, another hart, or from 0. */
static int counter_access(struct hart *hart, uint32_t offset, int is_write, uint32_t *value) {
  struct platform *platform = hart->platform;
  struct snitch_counter *counter = &platform->snitch->counter[offset >> 3 & (SNITCH_COUNTERS - 1)];
  uint64_t so_far = counted(platform, counter, hart->now);
  uint32_t upper = offset & 4;
  if (!is_write) {
    if (offset >= COUNTER) *value = (uint32_t)(so_far >> (upper ? 32 : 0));
    else if (!upper) *value = offset >= HART_SELECT ? counter->hart : counter->enable;
  } else if (!upper) {
    if (offset >= COUNTER) restart(platform, counter, counter->enable, counter->hart, 0, hart->now);
    else if (offset >= HART_SELECT) restart(platform, counter, counter->enable, *value & 0x3ff, so_far, hart->now);
    else restart(platform, counter, *value & 0x7fffffff, counter->hart, so_far, hart->now);
  }
  return ACCESS_OK;
}

int snitch_register_access(struct hart *hart, uint32_t offset, int is_write, uint32_t *value) {
  uint32_t pending = hart->platform->snitch->cluster_interrupts;
  if (offset < INTERRUPT_SET) return counter_access(hart, offset, is_write, value);
  if (!is_write) {
    if (offset == ENGINE_BUSY) *value = engines_busy(hart, hart->now);
    return offset < ENGINE_BUSY + 8 ? ACCESS_OK : ACCESS_NOWHERE; /* events are pulses, the rest reads as 0 */
  }
  if (offset == INTERRUPT_SET) set_cluster_interrupts(hart, pending | *value, hart->now);
  else if (offset == INTERRUPT_CLEAR) set_cluster_interrupts(hart, pending & ~*value, hart->now);
  else if (offset != PREFETCH) return ACCESS_NOWHERE; /* the prefetcher is always on */
  return ACCESS_OK;
}

int snitch_software_interrupts(struct hart *hart, int is_write, uint32_t *value) {
  struct platform *platform = hart->platform;
  for (uint32_t i = 0; is_write && i < platform->hart_count; i++)
    snitch_interrupt(platform, i, SOFTWARE_INTERRUPT, (int)(*value >> i & 1), hart->now);
  return register_word(&platform->snitch->software_interrupts, is_write, value);
}
