/* SPDX-License-Identifier: Apache-2.0
 *
 * Event unit: per-core event buffers and masks, barriers, dispatch FIFO, mutexes, software events. */
#ifndef ISS_EVENT_UNIT_H
#define ISS_EVENT_UNIT_H

#include <stdint.h>

struct platform;
struct hart;

enum { EVENT_DMA = 8, EVENT_DMA_IRQ = 9, EVENT_TIMER_LOW = 10, EVENT_BARRIER = 16, EVENT_MUTEX = 17,
       EVENT_DISPATCH = 18, BARRIERS = 9, MUTEXES = 4, DISPATCH_DEPTH = 8 };

/* What a sleeping hart waits for. */
enum wait_kind { WAIT_NONE, WAIT_EVENT, WAIT_EVENT_CLEAR, WAIT_DISPATCH, WAIT_MUTEX, WAIT_INTERRUPT, WAIT_BARRIER };

struct wait {
  enum wait_kind kind;
  uint32_t mutex;
  int ready;      /* the value below answers the load that went to sleep */
  uint32_t value;
};

struct core_events {
  uint32_t buffer, mask, irq_mask;
  uint32_t fifo[DISPATCH_DEPTH], fifo_count; /* dispatched words not popped yet */
};

struct barrier {
  uint32_t trigger_mask, target_mask, status;
};

struct mutex {
  int locked;
  uint32_t value, waiting; /* word left by the last owner; mask of waiting cores */
};

struct event_unit {
  struct core_events core[16];
  struct barrier barrier[BARRIERS];
  struct mutex mutex[MUTEXES];
  uint32_t team;
  uint32_t blocked_pushers; /* cores stalled on a full dispatch FIFO */
};

/* Raise event lines on the cores in `cores` at a cluster cycle; sleepers that wait for them are woken. */
void event_raise(struct platform *platform, uint32_t cores, uint32_t line, uint64_t cycle);

/* Accesses return an access_status of memory.h. */
int event_core_access(struct hart *hart, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value);
int event_global_access(struct hart *hart, uint32_t offset, uint64_t cycle, int is_write, uint32_t *value);

#endif /* ISS_EVENT_UNIT_H */
