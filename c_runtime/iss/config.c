/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stddef.h>
#include <string.h>

struct field {
  const char *name;
  size_t offset;
  int64_t value;
};

static const struct field fields[] = {
#define CONFIG_FIELD(name, value) {#name, offsetof(struct config, name), value},
    CONFIG_FIELDS(CONFIG_FIELD)
#undef CONFIG_FIELD
};

static int64_t *field_at(struct config *config, size_t offset) {
  return (int64_t *)(void *)((char *)config + offset);
}

void config_defaults(struct config *config) {
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) *field_at(config, fields[i].offset) = fields[i].value;
}

int config_set(struct config *config, const char *name, int64_t value) {
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    if (strcmp(fields[i].name, name) != 0) continue;
    *field_at(config, fields[i].offset) = value;
    return 0;
  }
  return -1;
}

static int is_power_of_two(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

const char *config_check(const struct config *config) {
  const int64_t *values = (const int64_t *)(const void *)config;
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
    if (values[i] < 0 || values[i] > UINT32_MAX) return "a number is negative or does not fit 32 bits";
  if (config->cores < 1 || config->cores > 16) return "a cluster has 1 to 16 cores";
  if (config->l1_size < 4096 || config->l1_size > 0x100000 || config->l1_size % 64) return "L1 has 4 KiB to 1 MiB";
  if (config->l2_size < 4096 || config->l2_size > 0x2000000 || config->l2_size % 64) return "L2 has 4 KiB to 32 MiB";
  if (config->core_is_snitch && (config->isa_xpulp || config->isa_float_cluster || config->cores > 15))
    return "Snitch cores execute RV32IMA, and a cluster has 1 to 15 workers";
  if (config->core_is_snitch && (config->memory_operations < 1 || config->memory_operations > 8))
    return "a Snitch core has 1 to 8 memory operations under way";
  if (config->core_is_snitch && (config->load_distance < 1 || config->multiply_distance < 1 ||
                                 config->offload_distance < 1 || config->barrier_exit_cycles < 2))
    return "a result takes at least one cycle and a barrier two";
  if (config->core_is_snitch && config->l1_banks < 32) return "L1 of a Snitch cluster has at least 32 banks";
  if (config->core_is_snitch && (config->engine_store_interval < 1 ||
                                 config->engine_store_delay / config->engine_store_interval > 64))
    return "stores to an accelerator arrive one after the other, and at most 64 are under way";
  if (config->alone && (config->cores != 1 || config->core_is_snitch)) return "a core by itself is one, and no Snitch";
  if (config->l1_base % 0x400000) return "the cluster base is a multiple of 4 MiB";
  if (config->weight_size > 0x10000000 || config->l3_size > 0x10000000) return "a memory has at most 256 MiB";
  if (config->l2_private_bytes > config->l2_size) return "the private part of L2 is larger than L2";
  if (!is_power_of_two(config->l1_banks) || config->l1_banks > 64) return "L1 has 1, 2, 4 ... 64 banks";
  if (!is_power_of_two(config->l2_banks) || config->l2_banks > 64) return "L2 has 1, 2, 4 ... 64 banks";
  if (config->soc_clock_numerator < 1 || config->soc_clock_numerator > 10000 || config->soc_clock_denominator < 1 ||
      config->soc_clock_denominator > 10000)
    return "the clock ratio is a fraction of numbers from 1 to 10000";
  if (!is_power_of_two(config->l0_sets) || !is_power_of_two(config->shared_sets) ||
      !is_power_of_two(config->controller_icache_sets))
    return "instruction caches have a power of two of sets";
  if (!is_power_of_two(config->shared_banks) || config->shared_banks > config->shared_sets || config->shared_banks > 64)
    return "the shared instruction cache has 1, 2, 4 ... 64 banks, no more than sets";
  if (config->l0_sets * config->l0_ways > 1024 || config->shared_sets * config->shared_ways > 65536 ||
      config->controller_icache_sets * config->controller_icache_ways > 65536 || config->l0_ways < 1 ||
      config->shared_ways < 1 || config->controller_icache_ways < 1)
    return "an instruction cache has between one way and 1 MiB";
  if (config->dma_bytes_per_cycle < 4 || config->dma_bytes_per_cycle > 64 || config->dma_bytes_per_cycle % 4)
    return "the DMA moves 4 to 64 bytes per cycle, in words";
  if (!is_power_of_two(config->dma_burst_bytes) || config->dma_burst_bytes < config->dma_bytes_per_cycle)
    return "the DMA burst is a power of two and at least one beat";
  if (config->dma_core_queue < 1 || config->dma_core_queue > 16 || config->dma_global_queue < 1 ||
      config->dma_global_queue > 64 || config->dma_counters < 1 || config->dma_counters > 16)
    return "the DMA has 1 to 16 counters and 1 to 64 queue entries";
  if (config->dma_startup_cycles < 1) return "the DMA starts a command at least one cycle after it was queued";
  if (config->float_units > 16 || config->float_dividers > 16) return "a cluster shares at most 16 float units";
  if (config->reference_clock_divider < 1) return "the reference clock divider is at least 1";
  if (config->mul_cycles < 1 || config->mulh_cycles < 1 || config->divide_base_cycles < 1 ||
      config->event_load_cycles < 1 || config->event_answer_cycles < 1 || config->float_cycles < 1 || config->float_divide_cycles < 1 ||
      config->float_square_root_cycles < 1 || config->core_peripheral_cycles < 1 || config->core_weight_cycles < 1 ||
      config->core_l2_cycles < 1 || config->core_apb_cycles < 1 || config->controller_l2_cycles < 1 ||
      config->controller_cluster_cycles < 1 ||
      config->controller_weight_cycles < 1 || config->controller_apb_cycles < 1)
    return "an instruction or access takes at least one cycle";
  return NULL;
}
