/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's platform functions on the runtimes of compiled networks. Where cores sleep, their barriers need the event
 * mask for themselves: waiting for the engine opens the mask for its line only as long as it sleeps. Where there are no
 * events, they look at the engine again. */
#ifndef NEUREKA_CUSTOM_PLATFORM_H
#define NEUREKA_CUSTOM_PLATFORM_H

#include "tvm_pulp/placement.h"

#ifdef TVM_PULP_DRIVER_IN_L1
/* A word in L2 takes 15 cycles. */
#define NEUREKA_STATE TVM_PULP_DRIVER_IN_L1
#endif
/* Beside the functions that steps call (link.ld). */
#define NEUREKA_CODE __attribute__((section(".text..close")))

/* The SoC's description knows where the engine is: the compiler passes both. */
#ifndef NEUREKA_BASE
#define NEUREKA_BASE 0x10201000u
#endif
#ifndef NEUREKA_EVENT_LINE
#define NEUREKA_EVENT_LINE 12u
#endif

static inline uint32_t neureka_read(uint32_t offset) { return TVM_PULP_REGISTER(NEUREKA_BASE + offset); }
static inline void neureka_write(uint32_t offset, uint32_t value) { TVM_PULP_REGISTER(NEUREKA_BASE + offset) = value; }

/* Arbitration: bits 7:0 longest stall of the side that loses, bit 8 the accelerator wins. */
static inline void neureka_set_priority(uint32_t accelerator_wins, uint32_t max_stall) {
#ifdef SIRACUSA_CLUSTER_CONFIGURATION
  const uint32_t old = TVM_PULP_REGISTER(SIRACUSA_CLUSTER_CONFIGURATION);
  TVM_PULP_REGISTER(SIRACUSA_CLUSTER_CONFIGURATION) = (old & ~0x1FFu) | accelerator_wins << 8 | max_stall;
#else
  (void)accelerator_wins;
  (void)max_stall;
#endif
}

/* The mask opens in neureka_sleep. */
static inline void neureka_unmask_event(void) {}

#if __has_include("tvm_pulp/event_unit.h")
#include "tvm_pulp/event_unit.h"
static inline void neureka_sleep(void) { tvm_pulp_event_wait(NEUREKA_EVENT_LINE); }
#else
static inline void neureka_sleep(void) {}
#endif

#endif /* NEUREKA_CUSTOM_PLATFORM_H */
