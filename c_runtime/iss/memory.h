/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of cores of all kinds that the fast paths of the interpreters do not take. */
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

/* Perform an access of 1, 2 or 4 bytes. Loads are zero-extended. Adds its cycles to `hart->now`, but those of a Snitch core
 * to `answer` of its scoreboard. */
int memory_access(struct hart *hart, uint32_t address, uint32_t size, int is_write, uint32_t *value);

/* Offsets in the cluster's peripheral space, and from CORE_PORTS on; the per-core ports are one cycle away from their core. */
enum { CLUSTER_REGISTERS = 0x200000, CLUSTER_CONTROL = 0x0, CLUSTER_TIMER = 0x400, EVENT_UNIT = 0x800, EVENT_UNIT_END = 0x1000,
       CLUSTER_ICACHE = 0x1400, DMA_GLOBAL = 0x1800, CORE_PORTS = 0x4000, DMA_CORE = 0x400 };

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

/* A register that is storage, and two behind it that change its bits: the one at `sets` sets them, the other clears them. */
static inline int register_bits(uint32_t *word, uint32_t offset, uint32_t sets, int is_write, uint32_t *value) {
  if (offset == 0) return register_word(word, is_write, value);
  if (!is_write) return ACCESS_NOWHERE;
  *word = offset == sets ? *word | *value : *word & ~*value;
  return ACCESS_OK;
}

/* The device at an address answers it: reads or writes `value`. */
int register_access(struct hart *hart, struct target target, uint64_t cycle, int is_write, uint32_t *value);

/* A fault that says so; after an access that may have changed the state of the system. */
int access_nowhere(struct hart *hart, uint32_t address, uint32_t size, int is_write);
int access_misaligned(struct hart *hart, uint32_t address, uint32_t size, int is_write, const char *reason);
int access_settle(struct hart *hart, int status);
/* Tell the observer of an access outside the fast path; `hart` has its program counter and time. */
void observe_access(struct hart *hart, struct target target, uint32_t size, int is_second, int is_write, uint32_t value);

#endif /* ISS_MEMORY_H */
