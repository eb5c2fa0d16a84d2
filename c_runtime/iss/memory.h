/* SPDX-License-Identifier: Apache-2.0
 *
 * The address map as cores see it, for every access that the fast path of execute.c does not take. */
#ifndef ISS_MEMORY_H
#define ISS_MEMORY_H

#include "platform.h"

enum access_status {
  ACCESS_OK,
  ACCESS_SLEEP,   /* the hart waits for an event; the access is replayed and answered when it wakes */
  ACCESS_BLOCKED, /* the device stalls the access; it is replayed when there is room */
  ACCESS_NOWHERE, /* no such register or memory */
  ACCESS_STOP     /* the platform's state changed: fault or end of the program */
};

/* Perform an access of 1, 2 or 4 bytes; adds its cycles to `hart->now`. Loads are zero-extended. */
int memory_load(struct hart *hart, uint32_t address, uint32_t size, uint32_t *value);
int memory_store(struct hart *hart, uint32_t address, uint32_t size, uint32_t value);

/* Offsets in the cluster's peripheral space; the per-core ports are one cycle away from their core. */
enum { CLUSTER_CONTROL = 0x0, CLUSTER_TIMER = 0x400, EVENT_UNIT = 0x800, EVENT_UNIT_END = 0x1000, CLUSTER_ICACHE = 0x1400,
       DMA_GLOBAL = 0x1800, CORE_PORTS = 0x4000, DMA_CORE = 0x4400, CORE_PORTS_END = 0x4800 };

/* SoC peripherals. */
enum { APB_BASE = 0x1a100000, APB_END = 0x1a200000, IO_DMA = 0x2000, SOC_CONTROL = 0x4000, SOC_EVENTS = 0x6000,
       CONTROLLER_ICACHE = 0x8800, INTERRUPTS = 0x9800, CONTROLLER_TIMER_0 = 0xb000, CONTROLLER_TIMER_1 = 0xb800,
       STDOUT = 0xf000 };

/* A register that is storage. */
static inline int register_word(uint32_t *word, int is_write, uint32_t *value) {
  if (is_write) *word = *value;
  else *value = *word;
  return ACCESS_OK;
}

/* The device that answers a register's address reads or writes `value`. */
int register_access(struct hart *hart, int apb, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value);

/* A fault that says so; after an access that may have changed the state of the system. */
int access_nowhere(struct hart *hart, uint32_t address, uint32_t size, int is_write);
int access_misaligned(struct hart *hart, uint32_t address, uint32_t size, int is_write, const char *reason);
#define OF_REGISTERS " to a register, which takes aligned 32-bit accesses only"
int access_settle(struct hart *hart, int status);

/* Host pointer to memory at an address as the SoC sees it, or NULL. Used by DMA, loaders and debuggers. */
uint8_t *memory_pointer(struct platform *platform, uint32_t address, uint64_t bytes);

#endif /* ISS_MEMORY_H */
