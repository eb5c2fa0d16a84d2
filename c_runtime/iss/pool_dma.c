/* SPDX-License-Identifier: Apache-2.0
 *
 * The DMA of a pool of tiles: one transfer at a time, without strides. It is split so that every group moves what lies
 * in its own banks, a beat per cycle; a beat takes the banks of one tile and wins over cores. Bytes move when the
 * transfer is complete. */
#include "pool.h"

#include "memory.h"

enum { SOURCE = 0x00, TARGET = 0x04, BYTES = 0x08, CONFIGURATION = 0x0c, STATUS = 0x10, NEXT_ID = 0x14, DONE = 0x18 };

/* Lines of a tile's banks in front of line `line` that belong to a group. */
static uint32_t lines_of_group(const struct pool *pool, uint32_t group, uint32_t line) {
  uint32_t inside = line & (pool->tiles - 1), first = group << pool->group_shift;
  uint32_t part = inside <= first ? 0 : inside - first < pool->group_tiles ? inside - first : pool->group_tiles;
  return (line >> pool->tile_shift << pool->group_shift) + part;
}

/* Cycles until the group with the most bytes has moved them. */
static uint64_t beats(const struct platform *platform, uint32_t offset, uint32_t bytes) {
  const struct pool *pool = platform->pool;
  uint32_t line_bytes = 4u << pool->bank_shift, width = (uint32_t)platform->config.dma_bytes_per_cycle, most = 0;
  uint32_t first = offset / line_bytes, last = (offset + bytes - 1) / line_bytes + 1;
  for (uint32_t group = 0; group < pool->groups; group++) {
    uint32_t lines = lines_of_group(pool, group, last) - lines_of_group(pool, group, first);
    if (lines > most) most = lines;
  }
  return (uint64_t)most * ((line_bytes + width - 1) / width);
}

static int start(struct hart *hart) {
  struct platform *platform = hart->platform;
  struct pool *pool = platform->pool;
  const struct config *config = &platform->config;
  struct pool_transfer *made = &pool->transfer;
  uint32_t l1 = (uint32_t)config->memory_l1_base, target = pool->dma_target - l1, source = pool->dma_source - l1;
  int inward = target < config->memory_l1_size, outward = source < config->memory_l1_size;
  if (made->is_under_way) {
    platform_fault(platform, FAULT_PERIPHERAL, hart, 0x40010014u,
                   "a DMA transfer is started while another is under way: wait until DONE reads 1");
    return ACCESS_STOP;
  }
  if (!pool->dma_bytes || inward == outward || !memory_at(platform, pool->dma_source, pool->dma_bytes, 0) ||
      !memory_at(platform, pool->dma_target, pool->dma_bytes, 1)) {
    platform_fault(platform, FAULT_ACCESS, hart, pool->dma_source,
                   "DMA transfer of %u byte(s) from 0x%x to 0x%x is not between L1 and L2", (unsigned)pool->dma_bytes,
                   (unsigned)pool->dma_source, (unsigned)pool->dma_target);
    return ACCESS_STOP;
  }
  made->source = pool->dma_source;
  made->target = pool->dma_target;
  made->bytes = pool->dma_bytes;
  made->inward = inward;
  made->l1 = inward ? target : source;
  made->start = hart->now + (uint64_t)config->dma_startup + (inward ? (uint64_t)config->dma_l2_read_latency : 0);
  made->end = made->start + beats(platform, made->l1, made->bytes);
  made->is_under_way = 1;
  pool->dma_done = 0;
  check_race(platform, AGENT_DMA, TVM_PULP_PORT_L1, made->l1, made->bytes, inward, made->start);
  update_device_cycle(platform);
  return ACCESS_OK;
}

int pool_dma_access(struct hart *hart, uint32_t offset, int is_write, uint32_t *value) {
  struct pool *pool = hart->platform->pool;
  switch (offset) {
    case SOURCE: return register_word(&pool->dma_source, is_write, value);
    case TARGET: return register_word(&pool->dma_target, is_write, value);
    case BYTES: return register_word(&pool->dma_bytes, is_write, value);
    case CONFIGURATION: return register_word(&pool->dma_configuration, is_write, value);
    case STATUS: case NEXT_ID: case DONE: break;
    default: return ACCESS_NOWHERE;
  }
  if (is_write) return ACCESS_OK;
  if (offset == NEXT_ID) return start(hart);
  *value = offset == DONE ? pool->dma_done : !pool->transfer.is_under_way; /* of the backends: idle */
  return ACCESS_OK;
}

void pool_dma_advance(struct platform *platform, uint64_t cycle) {
  struct pool *pool = platform->pool;
  struct pool_transfer *made = &pool->transfer;
  if (!made->is_under_way || made->end > cycle) return;
  check_race(platform, AGENT_DMA, TVM_PULP_PORT_L1, made->l1, made->bytes, made->inward, made->end);
  dma_copy(platform, made->target, made->source, made->bytes, made->end);
  platform->dma.bytes[made->inward] += made->bytes;
  dma_count(platform, (uint32_t)made->inward, made->start, made->end, made->bytes);
  made->is_under_way = 0;
  pool->dma_done = 1;
}

uint64_t pool_dma_next(const struct platform *platform) {
  return platform->pool->transfer.is_under_way ? platform->pool->transfer.end : NEVER;
}

uint64_t pool_dma_avoid(const struct platform *platform, uint32_t tile, uint64_t cycle) {
  const struct pool *pool = platform->pool;
  const struct pool_transfer *made = &pool->transfer;
  uint32_t line_bytes = 4u << pool->bank_shift, width = (uint32_t)platform->config.dma_bytes_per_cycle;
  uint32_t group = tile >> pool->group_shift, per_line = (line_bytes + width - 1) / width, before, beat, inside;
  if (made->l1 < pool->sequential_end || !platform->config.memory_l1_conflicts) return cycle;
  before = lines_of_group(pool, group, made->l1 / line_bytes);
  while (made->start <= cycle && cycle < made->end) {
    beat = before + (uint32_t)(cycle - made->start) / per_line;
    inside = tile & (pool->group_tiles - 1);
    if (beat % pool->group_tiles != inside ||
        beat >= lines_of_group(pool, group, (made->l1 + made->bytes - 1) / line_bytes + 1)) break;
    cycle++;
  }
  return cycle;
}
