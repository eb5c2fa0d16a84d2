/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <string.h>

static const struct field {
  const char *name;
  int64_t least, most;
} FIELDS[] = {
#define CONFIG_FIELD(name, least, most) {#name, least, most},
    CONFIG_FIELDS(CONFIG_FIELD)
#undef CONFIG_FIELD
};

enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

#define MISSING INT64_MIN

static int is_power_of_two(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

static int is_cache(int64_t sets, int64_t ways, int64_t most) { return ways >= 1 && sets <= most && sets * ways <= most; }

/* What a pool of tiles needs: everything that addresses are split by is a power of two. */
static const char *contradiction_of_tiles(const struct config *config) {
  int64_t tiles = config->memory_l1_banks / config->tiles_banks, groups = config->tiles_groups;
  int64_t sequential = tiles * config->tiles_cores * config->tiles_sequential_bytes;
  if (!is_power_of_two(config->memory_l1_banks) || !is_power_of_two(config->tiles_banks) || !is_power_of_two(groups) ||
      tiles < groups || tiles > 64)
    return "a pool has 1, 2, 4 ... 64 tiles of 1, 2, 4 ... banks in 1, 2, 4 or 8 groups";
  if (config->cluster_cores % (config->tiles_cores * groups) || config->cluster_cores > tiles * config->tiles_cores)
    return "the cores of a pool fill tiles, the same number in each group";
  if (!is_power_of_two(config->tiles_cores * config->tiles_sequential_bytes) || sequential > config->memory_l1_size ||
      config->tiles_cores * config->tiles_sequential_bytes < 4 * config->tiles_banks)
    return "the sequential region of a tile is a power of two, at least a word of each of its banks, and fits L1";
  if (config->memory_l1_size < 4096 || config->memory_l1_size > 0x100000) return "L1 has 4 KiB to 1 MiB";
  if (config->memory_l2_size < 4096 || config->memory_l2_size > 0x2000000) return "L2 has 4 KiB to 32 MiB";
  if (!is_power_of_two(config->icache_shared_sets) || !is_power_of_two(config->tiles_code_sets) ||
      !is_power_of_two(config->icache_private_sets))
    return "instruction caches have a power of two of sets";
  if (config->cluster_isa_single_float || config->memory_weight_size || config->memory_l3_size)
    return "a pool has no float units, no weight memory and no L3";
  if (config->dma_bytes_per_cycle % 4) return "the DMA moves 4 to 64 bytes per cycle and group, in words";
  return NULL;
}

/* What the simulator needs beyond the range of each number. */
static const char *contradiction(const struct config *config) {
  if (config->core_is_pool) return contradiction_of_tiles(config);
  if (config->cluster_cores > 16) return "a cluster without tiles has 1 to 16 cores";
  if (config->memory_l1_banks > 64) return "L1 of a cluster without tiles has 1, 2, 4 ... 64 banks";
  if (config->core_is_snitch && (config->cluster_isa_xpulp || config->cluster_isa_single_float || config->cluster_cores > 15))
    return "Snitch cores execute RV32IMA, and a cluster has 1 to 15 workers";
  if (config->core_is_snitch && config->memory_l1_banks < 32) return "L1 of a Snitch cluster has at least 32 banks";
  if (config->scoreboard_engine_store_delay / config->scoreboard_engine_store_interval > 64)
    return "stores to an accelerator arrive one after the other, and at most 64 are under way";
  if (config->bare && (config->cluster_cores != 1 || config->core_is_snitch)) return "a core by itself is one, and no Snitch";
  if (config->memory_l1_size < 4096 || config->memory_l1_size > 0x100000 || config->memory_l1_size % 64)
    return "L1 has 4 KiB to 1 MiB";
  if (config->memory_l2_size < 4096 || config->memory_l2_size > 0x2000000 || config->memory_l2_size % 64)
    return "L2 has 4 KiB to 32 MiB";
  if (config->memory_weight_size > 0x10000000 || config->memory_l3_size > 0x10000000) return "a memory has at most 256 MiB";
  if (config->memory_l1_base % 0x400000) return "the cluster base is a multiple of 4 MiB";
  if (config->memory_l2_private_bytes > config->memory_l2_size) return "the private part of L2 is larger than L2";
  if (!is_power_of_two(config->memory_l1_banks)) return "L1 has 1, 2, 4 ... 64 banks";
  if (!is_power_of_two(config->memory_l2_banks)) return "L2 has 1, 2, 4 ... 64 banks";
  if (!is_power_of_two(config->icache_private_sets) || !is_power_of_two(config->icache_shared_sets) ||
      !is_power_of_two(config->icache_controller_sets))
    return "instruction caches have a power of two of sets";
  if (!is_power_of_two(config->icache_shared_banks) || config->icache_shared_banks > config->icache_shared_sets ||
      config->icache_shared_banks > 64)
    return "the shared instruction cache has 1, 2, 4 ... 64 banks, no more than sets";
  if (!is_cache(config->icache_private_sets, config->icache_private_ways, 1024) ||
      !is_cache(config->icache_shared_sets, config->icache_shared_ways, 65536) ||
      !is_cache(config->icache_controller_sets, config->icache_controller_ways, 65536))
    return "an instruction cache has between one way and 1 MiB";
  if (config->dma_bytes_per_cycle % 4) return "the DMA moves 4 to 64 bytes per cycle, in words";
  if (!is_power_of_two(config->dma_burst_bytes) || config->dma_burst_bytes < config->dma_bytes_per_cycle)
    return "the DMA burst is a power of two and at least one beat";
  return NULL;
}

int config_read(struct config *config, const char *const *names, const int64_t *values, size_t count, char *error,
                size_t error_bytes) {
  int64_t *own = (int64_t *)(void *)config;
  const char *problem;
  for (size_t i = 0; i < FIELD_COUNT; i++) own[i] = MISSING;
  for (size_t given = 0; given < count; given++) {
    size_t i = 0;
    while (i < FIELD_COUNT && strcmp(FIELDS[i].name, names[given]) != 0) i++;
    if (i == FIELD_COUNT) {
      snprintf(error, error_bytes, "unknown setting '%s'", names[given]);
      return -1;
    }
    own[i] = values[given];
  }
  for (size_t i = 0; i < FIELD_COUNT; i++) {
    const struct field *field = &FIELDS[i];
    if (own[i] >= field->least && own[i] <= field->most) continue;
    if (own[i] == MISSING) snprintf(error, error_bytes, "setting '%s' is missing", field->name);
    else snprintf(error, error_bytes, "%s is %lld, choose %lld to %lld", field->name, (long long)own[i],
                  (long long)field->least, (long long)field->most);
    return -1;
  }
  problem = contradiction(config);
  if (problem) snprintf(error, error_bytes, "%s", problem);
  return problem ? -1 : 0;
}
