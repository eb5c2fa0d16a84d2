/* SPDX-License-Identifier: Apache-2.0 */
#include "written.h"

#include <stdlib.h>
#include <string.h>

#include "iss.h"
#include "platform.h"

int written_create(struct platform *platform) {
  struct written *written = &platform->written;
  if (!platform->config.check_reads || !platform->config.observe) return 0;
  for (uint32_t r = 0; r < REGION_COUNT; r++) {
    written->map[r] = calloc(1, platform->region[r].bytes);
    if (!written->map[r]) return -1;
  }
  return 0;
}

void written_destroy(struct platform *platform) {
  for (uint32_t r = 0; r < REGION_COUNT; r++) free(platform->written.map[r]);
}

void written_check(struct platform *platform, int agent, uint32_t region, uint32_t offset, uint32_t bytes, uint64_t cycle) {
  struct written *written = &platform->written;
  const uint8_t *map = written->map[region] + offset, *first = memchr(map, 0, bytes);
  struct unwritten_read *kept;
  /* A core's word and an engine's window may reach past the end of a tensor: wrong is one of which nothing was written. */
  if (!first || ((agent >= 0 || agent == AGENT_ENGINE) && memchr(map, 1, bytes))) return;
  kept = &written->kept[written->count < UNWRITTEN_KEPT ? written->count : UNWRITTEN_KEPT - 1];
  if (written->count++ < UNWRITTEN_KEPT) {
    kept->cycle = cycle;
    kept->agent = agent;
    kept->address = platform->region[region].base + offset + (uint32_t)(first - map);
    kept->bytes = bytes - (uint32_t)(first - map);
    kept->pc = agent >= 0 ? hart_pc(&platform->harts[agent]) : 0;
  }
  memset(written->map[region] + offset, 1, bytes);
}

void written_mark(struct platform *platform, uint32_t address, uint64_t bytes, int is_written) {
  uint32_t offset;
  uint32_t region = region_at(platform, address, bytes, &offset);
  if (region != REGION_COUNT && platform->written.map[region])
    memset(platform->written.map[region] + offset, is_written, bytes);
}

void written_access(struct platform *platform, int agent, uint32_t address, uint32_t bytes, int is_write,
                    uint64_t cycle) {
  uint32_t offset;
  uint32_t region = region_at(platform, address, bytes, &offset);
  if (region == REGION_COUNT || !platform->written.map[region]) return;
  if (is_write) memset(platform->written.map[region] + offset, 1, bytes);
  else written_check(platform, agent, region, offset, bytes, cycle);
}

int iss_undefine(struct platform *platform, uint32_t address, uint64_t bytes) {
  uint32_t offset;
  if (region_at(platform, address, bytes, &offset) == REGION_COUNT) return -1;
  written_mark(platform, address, bytes, 0);
  return 0;
}

uint64_t iss_unwritten_reads(const struct platform *platform, const struct unwritten_read **reads) {
  *reads = platform->written.kept;
  return platform->written.count;
}
