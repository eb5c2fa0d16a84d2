/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything about the simulated system that is a number. Filled by name from the SoC description, so the Python side
 * never has to know the layout of this struct. */
#ifndef ISS_CONFIG_H
#define ISS_CONFIG_H

#include <stdint.h>

/* X(name, default). Times are in cycles of the clock of the core or engine they belong to. */
#define CONFIG_FIELDS(X)                                                                                           \
  X(cores, 8) X(controller_hart_id, 0x3e0) X(isa_xpulp, 1) X(isa_float_cluster, 1) X(isa_float_controller, 0)      \
  X(l1_base, 0x10000000) X(l1_size, 0x40000) X(l1_banks, 16) X(l1_conflicts, 1)                                    \
  X(l2_base, 0x1c000000) X(l2_size, 0x200000) X(l2_private_bytes, 0x10000) X(l2_banks, 4) X(l2_conflicts, 0)       \
  X(weight_base, 0x10400000) X(weight_size, 0x800000) X(l3_size, 0x800000)                                         \
  X(soc_clock_numerator, 1) X(soc_clock_denominator, 1) X(reference_clock_divider, 10000)                          \
  X(mul_cycles, 1) X(mul_use_stall, 0) X(mulh_cycles, 5) X(divide_base_cycles, 3) X(load_use_stall, 1)             \
  X(branch_taken_penalty, 2) X(jump_penalty, 1) X(jump_register_stall, 1) X(event_load_cycles, 5)                  \
  X(float_cycles, 1) X(float_divide_cycles, 14) X(float_square_root_cycles, 14)                                    \
  X(float_units, 4) X(float_dividers, 1)                                                                            \
  X(core_peripheral_cycles, 3) X(core_weight_cycles, 5) X(core_l2_cycles, 15) X(core_apb_cycles, 23)               \
  X(controller_l2_cycles, 1) X(controller_cluster_cycles, 15) X(controller_weight_cycles, 15)                       \
  X(controller_apb_cycles, 9)                                                                                      \
  X(icache_ideal, 0) X(l0_sets, 8) X(l0_ways, 4) X(shared_sets, 64) X(shared_ways, 4) X(shared_banks, 8)           \
  X(icache_hit_shared_cycles, 2) X(icache_refill_cycles, 18) X(icache_disabled_cycles, 14)                         \
  X(controller_icache_sets, 32) X(controller_icache_ways, 4) X(controller_icache_refill_cycles, 5)                 \
  X(controller_icache_enabled, 1) X(rotating_priority, 1)                                                          \
  X(event_wake_cycles, 5) X(event_answer_cycles, 3) X(software_event_delay, 1)                                     \
  X(dma_bytes_per_cycle, 8) X(dma_startup_cycles, 1) X(dma_burst_bytes, 256) X(dma_l2_read_latency, 0)             \
  X(dma_core_queue, 2) X(dma_global_queue, 8) X(dma_counters, 16)                                                  \
  X(l3_read_millicycles_per_byte, 694) X(l3_write_millicycles_per_byte, 1250) X(l3_read_setup, 64)                 \
  X(l3_write_setup, 54) X(ordering_slack_cycles, 0) X(trace, 0) X(observe, 0) X(check_reads, 0)                      \
  /* A core by itself: two memories, engines anywhere, semihosting; neither controller nor cluster. */               \
  X(alone, 0) X(divide_steps, 1)                                                                                     \
  /* Snitch cores: distances are cycles from an instruction to the first that reads its result. */                   \
  X(core_is_snitch, 0) X(load_distance, 4) X(multiply_distance, 4) X(offload_distance, 4) X(engine_load_distance, 13) \
  X(engine_store_interval, 6) X(engine_store_delay, 8) X(memory_operations, 4) X(barrier_exit_cycles, 2) X(atomic_cycles, 2)                  \
  X(fetch_next_cycles, 4) X(fetch_jump_cycles, 8) X(dma_next_cycles, 6) X(dma_row_cycles, 1) X(boot_cycles, 174)

struct config {
#define CONFIG_FIELD(name, value) int64_t name;
  CONFIG_FIELDS(CONFIG_FIELD)
#undef CONFIG_FIELD
};

void config_defaults(struct config *config);
/* 0, or -1 when no field has this name. */
int config_set(struct config *config, const char *name, int64_t value);
/* NULL, or one sentence saying which value cannot be simulated. */
const char *config_check(const struct config *config);

#endif /* ISS_CONFIG_H */
