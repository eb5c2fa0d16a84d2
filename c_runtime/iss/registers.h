/* SPDX-License-Identifier: Apache-2.0
 *
 * Which device answers which register address. */
#ifndef ISS_REGISTERS_H
#define ISS_REGISTERS_H

#include "memory.h"

/* Offsets in the cluster's peripheral space; the per-core ports are one cycle away from their core. */
enum { CLUSTER_CONTROL = 0x0, CLUSTER_TIMER = 0x400, EVENT_UNIT = 0x800, EVENT_UNIT_END = 0x1000, CLUSTER_ICACHE = 0x1400,
       DMA_GLOBAL = 0x1800, CORE_PORTS = 0x4000, DMA_CORE = 0x4400, CORE_PORTS_END = 0x4800 };

/* SoC peripherals. */
enum { APB_BASE = 0x1a100000, APB_END = 0x1a200000, IO_DMA = 0x2000, SOC_CONTROL = 0x4000, SOC_EVENTS = 0x6000,
       CONTROLLER_ICACHE = 0x8800, INTERRUPTS = 0x9800, CONTROLLER_TIMER_0 = 0xb000, CONTROLLER_TIMER_1 = 0xb800,
       STDOUT = 0xf000 };

int register_read(struct hart *hart, int apb, uint32_t offset, uint64_t cycle, uint32_t *value);
int register_write(struct hart *hart, int apb, uint32_t offset, uint64_t cycle, uint32_t value);

#endif /* ISS_REGISTERS_H */
