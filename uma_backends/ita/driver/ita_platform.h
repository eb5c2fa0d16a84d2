/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the driver touches the machine. ITA_BASE and ITA_EVENT_LINE come from the SoC's description: the compiler passes
 * them. Where the runtime has an event unit, waiting sleeps; else it looks at the engine again. */
#ifndef ITA_PLATFORM_H
#define ITA_PLATFORM_H

#include <stdint.h>

#ifdef ITA_CUSTOM_PLATFORM
#include "ita_custom_platform.h"
#else

#if __has_include("tvm_pulp/event_unit.h")
#include "tvm_pulp/event_unit.h"
static inline void ita_sleep(void) { tvm_pulp_event_wait(ITA_EVENT_LINE); }
#else
static inline void ita_sleep(void) {}
#endif

static inline volatile uint32_t *ita_register(uint32_t offset) {
  return (volatile uint32_t *)(uintptr_t)(ITA_BASE + offset);
}
static inline uint32_t ita_read(uint32_t offset) { return *ita_register(offset); }
static inline void ita_write(uint32_t offset, uint32_t value) { *ita_register(offset) = value; }

#endif /* ITA_CUSTOM_PLATFORM */
#endif /* ITA_PLATFORM_H */
