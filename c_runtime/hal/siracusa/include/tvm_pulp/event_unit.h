/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers and sleeping until an event.
 *
 * The event mask of every core holds the barrier's line only, because a barrier returns early when any other unmasked
 * event is pending. A wait for another event opens the mask for that event alone and closes it again. */
#ifndef TVM_PULP_EVENT_UNIT_H
#define TVM_PULP_EVENT_UNIT_H

#include <stdint.h>

#include "tvm_pulp/core.h"

/* Event load word (p.elw): answered, and the core's clock back, when the event unit decides so. */
#define TVM_PULP_EVENT_LOAD(offset)                                                                          \
  do {                                                                                                       \
    uint32_t ignored_;                                                                                       \
    __asm__ volatile(".insn i 0x03, 6, %0, %1, %2"                                                           \
                     : "=r"(ignored_)                                                                        \
                     : "r"(SIRACUSA_EVENT_UNIT), "i"(offset)                                                 \
                     : "memory");                                                                            \
    (void)ignored_;                                                                                          \
  } while (0)

/* Return on all cores when all cores have arrived. Memory is coherent afterwards. */
static inline void tvm_pulp_barrier(void) {
#if TVM_PULP_CORES == 1
  __asm__ volatile("" ::: "memory");
#else
  TVM_PULP_EVENT_LOAD(SIRACUSA_BARRIER_WAIT_CLEAR);
#endif
}

static inline void tvm_pulp_event_mask(uint32_t mask) {
  TVM_PULP_REGISTER(SIRACUSA_EVENT_UNIT + SIRACUSA_EVENT_MASK) = mask;
}

/* Sleep until an event of this line is pending and clear it; any one core. An event that came earlier ends the wait at
 * once, so look at the status of its source afterwards, in a loop. */
static inline void tvm_pulp_event_wait(uint32_t line) {
  tvm_pulp_event_mask(1u << line);
  TVM_PULP_EVENT_LOAD(SIRACUSA_EVENT_WAIT_CLEAR);
  tvm_pulp_event_mask(1u << SIRACUSA_LINE_BARRIER);
}

#endif /* TVM_PULP_EVENT_UNIT_H */
