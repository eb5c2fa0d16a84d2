/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses and sizes of the Siracusa platform, for C and assembly. */
#ifndef TVM_PULP_SIRACUSA_H
#define TVM_PULP_SIRACUSA_H

/* Hart ids: cluster in bits 10:5, core in bits 4:0; the controller counts as cluster 31. */
#define SIRACUSA_HART_CORE_MASK 0x1F
#define SIRACUSA_HART_CLUSTER_SHIFT 5

/* Cluster control unit. */
#define SIRACUSA_FETCH_ENABLE 0x10200008
#ifndef SIRACUSA_CLUSTER_CONFIGURATION
#define SIRACUSA_CLUSTER_CONFIGURATION 0x10200018 /* L1 arbitration between cores and accelerator */
#endif
#define SIRACUSA_BOOT_ADDRESS 0x10200040 /* one word per core */
#define SIRACUSA_CLUSTER_ICACHE_ENABLE 0x10201400

/* Event unit, per-core port: every core sees its own registers. */
#define SIRACUSA_EVENT_UNIT 0x10204000
#define SIRACUSA_EVENT_MASK 0x000
#define SIRACUSA_EVENT_WAIT 0x038
#define SIRACUSA_EVENT_WAIT_CLEAR 0x03C
#define SIRACUSA_BARRIER_TRIGGER_MASK 0x200 /* barrier 0 */
#define SIRACUSA_BARRIER_TARGET_MASK 0x20C
#define SIRACUSA_BARRIER_WAIT_CLEAR 0x21C

/* Event lines. */
#define SIRACUSA_LINE_DMA 8
#define SIRACUSA_LINE_BARRIER 16

/* Cluster DMA, per-core port. */
#define SIRACUSA_DMA_COMMAND 0x10204400
#define SIRACUSA_DMA_STATUS 0x10204404

/* I/O DMA with the HyperBus controller as peripheral 4. */
#define SIRACUSA_IO_CLOCK_ENABLE 0x1A102000
#define SIRACUSA_HYPERBUS_CLOCK (1 << 4)
#define SIRACUSA_HYPERBUS 0x1A102280
#define SIRACUSA_HYPERBUS_CHIP_SELECT 0x1A1023A0

/* A character is printed by storing it here; lines of the controller are kept apart from those of other cores. */
#define SIRACUSA_STDOUT 0x1A10FF80

/* Write 1 << 31 | exit code to end the run. */
#define SIRACUSA_CORE_STATUS 0x1A1040A0

/* Numbers in which chips of the family differ: programs are built with those of theirs. The linker script is made from
 * the same description. */
#ifndef TVM_PULP_L1_BYTES
#define TVM_PULP_L1_BYTES 0x40000
#endif
#ifndef TVM_PULP_HARDWARE_CORES
#define TVM_PULP_HARDWARE_CORES 8
#endif
#ifndef TVM_PULP_STACK_BYTES
#define TVM_PULP_STACK_BYTES 2048 /* per core */
#endif
#ifndef TVM_PULP_WEIGHT_BASE
#define TVM_PULP_WEIGHT_BASE 0x10400000u
#endif
#define TVM_PULP_HARTS TVM_PULP_HARDWARE_CORES
#define TVM_PULP_STACKS TVM_PULP_CORES /* that end with a guard */

/* Memories beyond those of placement.h. The few words that drivers remember, at most 16 bytes in all, undefined at
 * start: they take nothing from the arena of L1. */
#ifndef TVM_PULP_DRIVER_IN_L1
#define TVM_PULP_DRIVER_IN_L1 __attribute__((section(".bss..l1_driver")))
#endif
/* Constants, and constants only, in the weight memory. The accelerator counts its addresses from 0 there. */
#define TVM_PULP_IN_WEIGHT_MRAM __attribute__((section(".weight_mram")))
#define TVM_PULP_IN_WEIGHT_SRAM __attribute__((section(".weight_sram")))
#define TVM_PULP_WEIGHT_OFFSET(pointer) ((uint32_t)(uintptr_t)(pointer) - TVM_PULP_WEIGHT_BASE)

#endif /* TVM_PULP_SIRACUSA_H */
