/* SPDX-License-Identifier: Apache-2.0 */
#include "written.h"

#include <stdlib.h>
#include <string.h>

#include "iss.h"
#include "platform.h"

int written_create(struct platform *platform) {
  struct written *written = &platform->written;
  const struct config *config = &platform->config;
  if (!config->check_reads || !config->observe) return 0;
  written->map[MEMORY_L1] = calloc(1, (size_t)config->memory_l1_size);
  written->map[MEMORY_L2] = calloc(1, (size_t)config->memory_l2_size);
  return written->map[MEMORY_L1] && written->map[MEMORY_L2] ? 0 : -1;
}

void written_destroy(struct platform *platform) {
  free(platform->written.map[MEMORY_L1]);
  free(platform->written.map[MEMORY_L2]);
}

/* The memory that holds all bytes at an address, or CHECKED_MEMORIES. */
static enum checked_memory memory_at(const struct platform *platform, uint32_t address, uint64_t bytes, uint32_t *offset) {
  const struct config *config = &platform->config;
  uint64_t l1 = address - (uint32_t)config->memory_l1_base, l2 = address - (uint32_t)config->memory_l2_base;
  *offset = (uint32_t)l1;
  if (l1 + bytes <= (uint64_t)config->memory_l1_size) return MEMORY_L1;
  *offset = (uint32_t)l2;
  return l2 + bytes <= (uint64_t)config->memory_l2_size ? MEMORY_L2 : CHECKED_MEMORIES;
}

void written_check(struct platform *platform, int agent, enum checked_memory memory, uint32_t offset, uint32_t bytes,
                   uint64_t cycle) {
  struct written *written = &platform->written;
  const uint8_t *map = written->map[memory] + offset, *first = memchr(map, 0, bytes);
  struct unwritten_read *kept;
  /* A core's word and an engine's window may reach past the end of a tensor: wrong is one of which nothing was written. */
  if (!first || ((agent >= 0 || agent == AGENT_ENGINE) && memchr(map, 1, bytes))) return;
  kept = &written->kept[written->count < UNWRITTEN_KEPT ? written->count : UNWRITTEN_KEPT - 1];
  if (written->count++ < UNWRITTEN_KEPT) {
    uint32_t base = (uint32_t)(memory == MEMORY_L1 ? platform->config.memory_l1_base : platform->config.memory_l2_base);
    kept->cycle = cycle;
    kept->agent = agent;
    kept->address = base + offset + (uint32_t)(first - map);
    kept->bytes = bytes - (uint32_t)(first - map);
    kept->pc = agent >= 0 ? hart_pc(&platform->harts[agent]) : 0;
  }
  memset(written->map[memory] + offset, 1, bytes);
}

void written_mark(struct platform *platform, uint32_t address, uint64_t bytes, int is_written) {
  uint32_t offset;
  enum checked_memory memory = memory_at(platform, address, bytes, &offset);
  if (memory != CHECKED_MEMORIES && platform->written.map[memory])
    memset(platform->written.map[memory] + offset, is_written, bytes);
}

void written_access(struct platform *platform, int agent, uint32_t address, uint32_t bytes, int is_write,
                    uint64_t cycle) {
  uint32_t offset;
  enum checked_memory memory = memory_at(platform, address, bytes, &offset);
  if (memory == CHECKED_MEMORIES || !platform->written.map[memory]) return;
  if (is_write) memset(platform->written.map[memory] + offset, 1, bytes);
  else written_check(platform, agent, memory, offset, bytes, cycle);
}

int iss_undefine(struct platform *platform, uint32_t address, uint64_t bytes) {
  uint32_t offset;
  if (memory_at(platform, address, bytes, &offset) == CHECKED_MEMORIES) return -1;
  written_mark(platform, address, bytes, 0);
  return 0;
}

uint64_t iss_unwritten_reads(const struct platform *platform, const struct unwritten_read **reads) {
  *reads = platform->written.kept;
  return platform->written.count;
}
