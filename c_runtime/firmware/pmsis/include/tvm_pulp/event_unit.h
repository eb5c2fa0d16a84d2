/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers and sleeping until an event, by the SDK. */
#ifndef TVM_PULP_EVENT_UNIT_H
#define TVM_PULP_EVENT_UNIT_H

#include "tvm_pulp/core.h"

/* Return on all cores when all cores have arrived. Memory is coherent afterwards. */
static inline void tvm_pulp_barrier(void) {
#if TVM_PULP_CORES > 1
  board_barrier();
#endif
  __asm__ volatile("" ::: "memory");
}

/* Sleep until an event of this line is pending and clear it; any one core. An event that came earlier ends the wait at
 * once, so look at the status of its source afterwards, in a loop. */
static inline void tvm_pulp_event_wait(uint32_t line) {
  board_wait_for_events(1u << line);
  __asm__ volatile("" ::: "memory");
}

#endif /* TVM_PULP_EVENT_UNIT_H */
