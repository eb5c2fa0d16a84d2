/* SPDX-License-Identifier: Apache-2.0
 *
 * What the simulator is told, with the least and the largest value of each number. Made by tvm_pulp/sim/iss/settings.py
 * from the form of SoC descriptions, whose names these are. */
#ifndef ISS_CONFIG_FIELDS_H
#define ISS_CONFIG_FIELDS_H

#define CONFIG_FIELDS(X)                                                                                             \
  X(cluster_cores,1,256) X(cluster_isa_single_float,0,1) X(cluster_isa_xpulp,0,1) X(cluster_float_units,0,16)        \
  X(cluster_float_dividers,0,16) X(controller_hart_id,0,UINT32_MAX) X(controller_isa_single_float,0,1)               \
  X(memory_l1_base,0,UINT32_MAX) X(memory_l1_size,0,UINT32_MAX) X(memory_l1_controller_latency,1,UINT32_MAX)         \
  X(memory_l1_banks,1,1024) X(memory_l1_conflicts,0,1) X(memory_l2_base,0,UINT32_MAX) X(memory_l2_size,0,UINT32_MAX) \
  X(memory_l2_latency,1,UINT32_MAX) X(memory_l2_controller_latency,1,UINT32_MAX) X(memory_l2_banks,1,1024)           \
  X(memory_l2_conflicts,0,1) X(memory_l2_private_bytes,0,UINT32_MAX) X(memory_weight_base,0,UINT32_MAX)              \
  X(memory_weight_size,0,UINT32_MAX) X(memory_weight_latency,1,UINT32_MAX)                                           \
  X(memory_weight_controller_latency,1,UINT32_MAX) X(memory_l3_size,0,UINT32_MAX)                                    \
  X(memory_l3_read_setup,0,UINT32_MAX) X(memory_l3_write_setup,0,UINT32_MAX) X(timing_mul,1,UINT32_MAX)              \
  X(timing_mul_use_stall,0,UINT32_MAX) X(timing_mulh,1,UINT32_MAX) X(timing_divide_base,1,UINT32_MAX)                \
  X(timing_divide_steps,0,1) X(timing_load_use_stall,0,UINT32_MAX) X(timing_branch_taken_penalty,0,UINT32_MAX)       \
  X(timing_jump_penalty,0,UINT32_MAX) X(timing_jump_register_stall,0,UINT32_MAX) X(timing_event_load,1,UINT32_MAX)   \
  X(timing_single_float,1,UINT32_MAX) X(timing_float_divide,1,UINT32_MAX) X(timing_float_square_root,1,UINT32_MAX)   \
  X(timing_peripheral,1,UINT32_MAX) X(timing_apb,1,UINT32_MAX) X(timing_controller_apb,1,UINT32_MAX)                 \
  X(timing_rotating_priority,0,1) X(timing_ordering_slack,0,64) X(scoreboard_load,1,UINT32_MAX)                      \
  X(scoreboard_multiply,1,UINT32_MAX) X(scoreboard_offload,1,UINT32_MAX) X(scoreboard_engine_load,1,UINT32_MAX)      \
  X(scoreboard_engine_store_interval,1,UINT32_MAX) X(scoreboard_engine_store_delay,1,UINT32_MAX)                     \
  X(scoreboard_memory_operations,1,8) X(scoreboard_atomic_extra,0,UINT32_MAX)                                        \
  X(scoreboard_barrier_exit,2,UINT32_MAX) X(scoreboard_next_line,0,UINT32_MAX) X(scoreboard_jump_line,0,UINT32_MAX)  \
  X(scoreboard_dma_next,0,UINT32_MAX) X(scoreboard_dma_row,0,UINT32_MAX) X(scoreboard_boot,0,UINT32_MAX)             \
  X(tiles_cores,1,16) X(tiles_banks,1,64) X(tiles_groups,1,8) X(tiles_group_latency,1,15)                            \
  X(tiles_cluster_latency,1,15) X(tiles_sequential_bytes,64,UINT32_MAX) X(tiles_wake_masks,0,1)                      \
  X(tiles_code_sets,1,UINT32_MAX) X(tiles_code_ways,1,UINT32_MAX) X(tiles_code_refill,0,UINT32_MAX)                  \
  X(icache_ideal,0,1) X(icache_private_sets,1,UINT32_MAX) X(icache_private_ways,1,UINT32_MAX)                        \
  X(icache_shared_sets,1,UINT32_MAX) X(icache_shared_ways,1,UINT32_MAX) X(icache_shared_banks,1,UINT32_MAX)          \
  X(icache_shared_hit,0,UINT32_MAX) X(icache_refill,0,UINT32_MAX) X(icache_disabled,0,UINT32_MAX)                    \
  X(icache_controller_sets,1,UINT32_MAX) X(icache_controller_ways,1,UINT32_MAX)                                      \
  X(icache_controller_refill,0,UINT32_MAX) X(icache_controller_enabled,0,1) X(events_wake,1,UINT32_MAX)              \
  X(events_answer,1,UINT32_MAX) X(events_software_delay,0,UINT32_MAX) X(dma_bytes_per_cycle,4,64)                    \
  X(dma_startup,1,UINT32_MAX) X(dma_burst_bytes,4,UINT32_MAX) X(dma_l2_read_latency,0,UINT32_MAX)                    \
  X(dma_core_queue,1,16) X(dma_global_queue,1,64) X(dma_counters,1,16) X(soc_clock_numerator,1,10000)                \
  X(soc_clock_denominator,1,10000) X(reference_clock_divider,1,UINT32_MAX)                                           \
  X(memory_l3_read_millicycles_per_byte,0,UINT32_MAX) X(memory_l3_write_millicycles_per_byte,0,UINT32_MAX)           \
  X(bare,0,1) X(core_is_snitch,0,1) X(core_is_pool,0,1) X(trace,0,1) X(observe,0,1) X(check_reads,0,1)

#endif /* ISS_CONFIG_FIELDS_H */
