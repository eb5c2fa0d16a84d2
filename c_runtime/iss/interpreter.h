/* SPDX-License-Identifier: Apache-2.0
 *
 * What the interpreters of all kinds of cores are made of: one function, one label per operation, computed jumps between
 * them. The handlers live in the handlers_*.h files and share these locals:
 *
 *   h    the running hart          ip     its current slot
 *   now  its time                  limit  last cycle at which it comes before every other actor (plus the allowed
 *                                         slack): memory accesses after it must wait their turn
 *
 * An interpreter defines how a block is fetched: SLOTS_OF_LINE, and FETCH_LINES(line, jumped), the cycles of it. */
#include <string.h>

#include "memory.h"
#include "observed_access.h"
#include "scheduler.h"

#define RD h->x[ip->rd]
#define S1 h->x[ip->rs1]
#define S2 h->x[ip->rs2]
#define PC (h->pc_base + (uint32_t)((ip - h->slots) * 2))
/* Where the handler of an operation is; those of other cores have none. */
#define OFFSET_OF(name, flags) [OP_##name] = (int32_t)((char *)&&op_##name - (char *)&&op_decode),
#define DISPATCH_SLOT() goto *(void *)((char *)&&op_decode + ip->handler)
#define DISPATCH_INNER() goto *(void *)((char *)&&op_decode + ip->inner)
/* Files with OBSERVED defined make the same interpreter with hooks, which are nothing elsewhere. */
#ifdef OBSERVED
#define DISPATCH() goto observe
#else
#define DISPATCH() DISPATCH_SLOT()
#endif

/* Instruction-cache check of the whole straight-line block that starts at ip. */
#define FETCH_BLOCK(jumped)                                              \
  do {                                                                   \
    size_t line_ = (size_t)(ip - h->slots) / SLOTS_OF_LINE;              \
    uint64_t window_;                                                    \
    memcpy(&window_, h->resident + line_ / 8, 8);                        \
    if (UNLIKELY(~(window_ >> (line_ & 7)) & ((1ull << ip->lines) - 1))) \
      now += FETCH_LINES((uint32_t)line_, jumped);                       \
  } while (0)

#define ENTER_BLOCK(jumped)                                        \
  do {                                                             \
    FETCH_BLOCK(jumped);                                           \
    if (UNLIKELY(now > limit + SPIN_QUANTUM)) goto yield_at_entry; \
    DISPATCH();                                                    \
  } while (0)

#define SAVE()             \
  do {                     \
    h->ip = ip;            \
    h->now = now;          \
    h->resume = ip->inner; \
  } while (0)

/* An access of the fast memory at `offset` that a job excludes. */
#define CHECK_RACE(bytes, is_write)                                                 \
  do {                                                                              \
    if (UNLIKELY(p->peripherals.l1_claims) && !h->is_controller)                    \
      check_race(p, (int)h->index, TVM_PULP_PORT_L1, offset, bytes, is_write, now); \
  } while (0)

/* An access at `address` that the fast path does not take. */
#define ACCESS_ELSEWHERE(type, is_write, value)                                \
  do {                                                                         \
    int status_;                                                               \
    SAVE();                                                                    \
    status_ = memory_access(h, address, sizeof(type), is_write, &(value));     \
    limit = p->limit + h->slack;                                               \
    if (status_ != ACCESS_OK) goto suspended;                                  \
  } while (0)
