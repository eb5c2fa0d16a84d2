/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the driver touches the machine: the Siracusa addresses, or, with NEUREKA_CUSTOM_PLATFORM defined, a header
 * neureka_custom_platform.h of the user that provides the same five functions. */
#ifndef NEUREKA_PLATFORM_H
#define NEUREKA_PLATFORM_H

#include <stdint.h>

#ifdef NEUREKA_CUSTOM_PLATFORM
#include "neureka_custom_platform.h"
#else

#ifndef NEUREKA_BASE
#define NEUREKA_BASE 0x10201000u
#endif
#define NEUREKA_CLUSTER_CONFIGURATION 0x10200018u /* L1 arbitration between cores and accelerator */
#define NEUREKA_EVENT_UNIT 0x10204000u            /* per-core view */
#define NEUREKA_EVENT_MASK (1u << 12)

static inline volatile uint32_t *neureka_word(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

static inline uint32_t neureka_read(uint32_t offset) { return *neureka_word(NEUREKA_BASE + offset); }
static inline void neureka_write(uint32_t offset, uint32_t value) { *neureka_word(NEUREKA_BASE + offset) = value; }

/* Arbitration: bits 7:0 longest stall of the side that loses, bit 8 the accelerator wins. */
static inline void neureka_set_priority(uint32_t accelerator_wins, uint32_t max_stall) {
  volatile uint32_t *configuration = neureka_word(NEUREKA_CLUSTER_CONFIGURATION);
  *configuration = (*configuration & ~0x1FFu) | accelerator_wins << 8 | max_stall;
}

static inline void neureka_unmask_event(void) { *neureka_word(NEUREKA_EVENT_UNIT + 0x08) = NEUREKA_EVENT_MASK; }

/* Sleep until any unmasked event is pending and clear it. The caller looks at STATUS afterwards, so waking up for
 * another reason is harmless. */
static inline void neureka_sleep(void) {
  uint32_t ignored;
  __asm__ volatile(".insn i 0x03, 6, %0, %1, 0x3C" /* p.elw: event load word, EVENT_WAIT_CLEAR */
                   : "=r"(ignored)
                   : "r"(NEUREKA_EVENT_UNIT)
                   : "memory");
  (void)ignored;
}

#endif /* NEUREKA_CUSTOM_PLATFORM */

/* An attribute that places the driver's 12 bytes of state, which need no initial value; L1 saves about 45 cycles per
 * job. */
#ifndef NEUREKA_STATE
#define NEUREKA_STATE
#endif
/* And one that places what every job runs. */
#ifndef NEUREKA_CODE
#define NEUREKA_CODE
#endif

#endif /* NEUREKA_PLATFORM_H */
