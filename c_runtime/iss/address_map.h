/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies at which address: stretches of memory and of registers, one list for every kind of system (memory.c). */
#ifndef ISS_ADDRESS_MAP_H
#define ISS_ADDRESS_MAP_H

#include <stdint.h>

#include "config.h"

struct platform;

/* Memories come first, before all those that code can run from; then what takes accesses of every size; from
 * PLACE_CLUSTER on spaces of registers, as debuggers are told of them. */
enum place { PLACE_L1 = REGION_L1, PLACE_L2 = REGION_L2, PLACE_WEIGHT, PLACE_TEST_AND_SET, PLACE_ZERO, PLACE_CONSOLE,
             PLACE_CORE_PORT, PLACE_ENGINE, PLACE_ALIAS, PLACE_CLUSTER, PLACE_APB, PLACE_SNITCH, PLACE_CLINT, PLACE_POOL,
             PLACE_NOWHERE };

/* The SoC is the DMA, the loader and the debugger. */
enum { VIEW_SOC = 1, VIEW_CORE = 2, VIEW_CONTROLLER = 4, VIEW_CORES = 6, VIEW_ALL = 7 };

struct window {
  enum place place;
  uint32_t viewers, base, bytes;
  uint8_t *memory; /* NULL: registers */
  uint32_t home;   /* of an alias: what its first address stands for */
};

enum { WINDOWS = 20 };

/* The last window that holds an address counts. */
struct address_map {
  struct window window[WINDOWS];
  uint32_t count;
};

/* An address without aliases: `window->base + offset`. */
struct target {
  const struct window *window;
  uint32_t offset;
};

void address_map_create(struct platform *platform);
void address_map_add(struct platform *platform, const struct window *windows, uint32_t count);
struct target resolve(const struct platform *platform, uint32_t address, uint32_t viewer);
/* An address as the SoC sees it, without aliases. */
static inline uint32_t home_address(const struct platform *platform, uint32_t address) {
  struct target target = resolve(platform, address, VIEW_SOC);
  return target.window->base + target.offset;
}
/* Host pointer to memory at an address as the SoC sees it, or NULL. Used by DMA, loaders and debuggers. */
uint8_t *memory_at(const struct platform *platform, uint32_t address, uint64_t bytes, int is_write);
/* The region that holds all bytes at an address, or REGION_COUNT. */
uint32_t region_at(const struct platform *platform, uint32_t address, uint64_t bytes, uint32_t *offset);

#endif /* ISS_ADDRESS_MAP_H */
