/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the driver touches the machine. NE16_BASE and NE16_EVENT_LINE come from the SoC's description: the compiler
 * passes them. With NE16_CUSTOM_PLATFORM defined, a header ne16_custom_platform.h of the user provides the same four
 * functions. Where the runtime has an event unit, waiting sleeps; else it looks at the engine again. */
#ifndef NE16_PLATFORM_H
#define NE16_PLATFORM_H

#include <stdint.h>

#ifdef NE16_CUSTOM_PLATFORM
#include "ne16_custom_platform.h"
#else

#include "tvm_pulp/placement.h"
#if __has_include("tvm_pulp/event_unit.h")
#include "tvm_pulp/event_unit.h"
static inline void ne16_sleep(void) { tvm_pulp_event_wait(NE16_EVENT_LINE); }
#else
static inline void ne16_sleep(void) {}
#endif

static inline uint32_t ne16_read(uint32_t offset) { return TVM_PULP_REGISTER(NE16_BASE + offset); }
static inline void ne16_write(uint32_t offset, uint32_t value) { TVM_PULP_REGISTER(NE16_BASE + offset) = value; }

/* The cluster's word about its accelerator: bits 7:0 longest stall of the side that loses on L1, bit 8 the accelerator
 * wins, bit 11 its clock. */
static inline void ne16_configure(uint32_t value) {
#ifdef SIRACUSA_CLUSTER_CONFIGURATION
  const uint32_t old = TVM_PULP_REGISTER(SIRACUSA_CLUSTER_CONFIGURATION);
  TVM_PULP_REGISTER(SIRACUSA_CLUSTER_CONFIGURATION) = (old & ~0x9FFu) | value;
#else
  (void)value;
#endif
}

#ifdef TVM_PULP_DRIVER_IN_L1
/* A word in L2 takes 15 cycles. */
#define NE16_STATE TVM_PULP_DRIVER_IN_L1
#endif
/* Beside the functions that steps call (link.ld). */
#define NE16_CODE __attribute__((section(".text..close")))

#endif /* NE16_CUSTOM_PLATFORM */

/* Attributes that place the driver's word of state, which needs no initial value, and what every job runs. */
#ifndef NE16_STATE
#define NE16_STATE
#endif
#ifndef NE16_CODE
#define NE16_CODE
#endif

#endif /* NE16_PLATFORM_H */
