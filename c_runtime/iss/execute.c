/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter: one function, one label per operation, computed jumps between them. The handlers live in the
 * handlers_*.h files and share these locals:
 *
 *   h    the running hart          ip     its current slot
 *   now  its time                  limit  last cycle at which it comes before every other actor (plus the allowed
 *                                         slack): memory accesses after it must wait their turn
 *
 * Hardware loops cost nothing elsewhere: the slot at a loop end is wrapped. The wrapper continues in `h->tail`, a
 * private copy of that slot followed by the pseudo-operation `loop_edge`, which decides where to go on. */
#include <string.h>

#include "float_arithmetic.h"
#include "loops.h"
#include "memory.h"
#include "observed_access.h"
#include "scheduler.h"
#include "simd.h"

#define X(n) h->x[n]
#define RD h->x[ip->rd]
#define S1 h->x[ip->rs1]
#define S2 h->x[ip->rs2]
#define PC (h->pc_base + (uint32_t)((ip - h->slots) * 2))

#define NEXT_SLOT() (ip = (struct slot *)(void *)((char *)ip + ip->step))
#define SLOT_BYTES(which) (SLOT_LENGTH(which) * 2)
#define DISPATCH_SLOT() goto *(void *)((char *)&&op_decode + ip->handler)
#define DISPATCH_INNER() goto *(void *)((char *)&&op_decode + ip->inner)
/* execute_observed.c includes this file with OBSERVED: the same interpreter with hooks, which are nothing here. */
#ifdef OBSERVED
#define EXECUTE execute_observed
#define DISPATCH() goto observe
#define NEXT_AFTER_ACCESS() \
  do {                      \
    NEXT_SLOT();            \
    DISPATCH();             \
  } while (0)
#else
#define EXECUTE execute
#define DISPATCH() DISPATCH_SLOT()
/* An access often follows an access and has to wait for its turn: no need to go there to find out. */
#define NEXT_AFTER_ACCESS()                                    \
  do {                                                         \
    NEXT_SLOT();                                               \
    if (now > limit && (ip->mark & MARK_ACCESS)) goto yield;   \
    DISPATCH();                                                \
  } while (0)
#endif
#define ADVANCE(cycles)      \
  do {                       \
    now += (cycles);         \
    NEXT_SLOT();             \
    DISPATCH();              \
  } while (0)
#define NEXT() ADVANCE(1)
/* In the body of a condition: the compiler must not make a selection of it, which would wait for both sides. */
#define KEEP_BRANCH() __asm__ volatile("")

/* Instruction-cache check of the whole straight-line block that starts at ip. */
#define FETCH_BLOCK()                                                                              \
  do {                                                                                             \
    size_t line_ = (size_t)(ip - h->slots) / LINE_SLOTS;                                           \
    uint64_t window_;                                                                              \
    memcpy(&window_, h->resident + line_ / 8, 8);                                                  \
    if (UNLIKELY(~(window_ >> (line_ & 7)) & ((1ull << ip->lines) - 1)))                           \
      now += fetch_lines(h, (uint32_t)line_, ip->lines, now);\
  } while (0)

#define ENTER_BLOCK()                                  \
  do {                                                 \
    FETCH_BLOCK();                                     \
    if (UNLIKELY(now > limit + SPIN_QUANTUM)) goto yield_at_entry; \
    DISPATCH();                                        \
  } while (0)

#define SAVE()      \
  do {              \
    h->ip = ip;     \
    h->now = now;   \
    h->resume = ip->inner; \
  } while (0)

/* The first call of a platform publishes the offsets of the handlers. */
void EXECUTE(struct platform *p) {
#define OP_OFFSET(name, flags) (int32_t)((char *)&&op_##name - (char *)&&op_decode),
  static const int32_t offsets[] = {ALL_OPS(OP_OFFSET)};
#undef OP_OFFSET
  struct hart *h;
  struct slot *ip;
  uint64_t now, limit;
  if (!p->handlers[OP_illegal]) {
    memcpy(p->handlers, offsets, sizeof offsets);
    return;
  }
#ifdef OBSERVED
  if (p->observer.stopped) { /* go on exactly where and with what the last call stopped */
    h = p->observer.stopped;
    limit = p->observer.limit;
    p->observer.stopped = NULL;
    ip = h->ip;
    now = h->now;
    goto *(void *)((char *)&&op_decode + h->resume);
  }
#endif

next_hart:
  h = schedule(p, &limit);
  if (!h) return;
  ip = h->ip;
  /* What is nearly always so is tested, not loaded: the next hart is found the sooner the earlier `now` is known. */
  now = p->wheel_base;
  if (UNLIKELY(h->now != now)) {
    KEEP_BRANCH();
    now = h->now;
  }
  limit += h->slack;
#ifdef OBSERVED
  if (!h->observed) goto observe;
#endif
  goto *(void *)((char *)&&op_decode + h->resume);

#ifdef OBSERVED
observe: /* before each instruction; a loop edge is none */
  if (LIKELY(ip->op != OP_loop_edge)) {
    h->observed = 1;
    if (UNLIKELY(observer_looks(h, ip))) {
      SAVE();
      h->resume = ip->handler;
      if (observer_stops(h)) {
        p->observer.stopped = h;
        p->observer.limit = limit;
        return;
      }
    }
  }
  DISPATCH_SLOT();
#endif

yield: /* another actor comes first; this instruction has not happened yet */
  SAVE();
  queue_insert(p, h, cluster_cycle(h, now));
  goto next_hart;

yield_at_entry: /* the same between two instructions */
  SAVE();
  h->resume = ip->handler;
  h->observed = 0;
  queue_insert(p, h, cluster_cycle(h, now));
  goto next_hart;

suspended: /* asleep, blocked or stopped; whoever did it keeps the hart's state, `resume` replays the instruction */
  goto next_hart;

op_decode:
  decode_block(h, ip);
  if (!(ip->wrap & WRAP_BOUNDARY)) FETCH_BLOCK(); /* the wrapper does it there */
  DISPATCH_SLOT();

op_illegal:
  SAVE();
  platform_fault(p, FAULT_ILLEGAL, h, 0, "illegal instruction");
  goto suspended;

op_wrapped: {
  uint32_t wrap = ip->wrap;
  if (wrap & WRAP_COMPRESSED) h->count.compressed++;
  if (wrap & WRAP_BOUNDARY) FETCH_BLOCK();
  if (!(wrap & WRAP_LOOP_END)) DISPATCH_INNER();
  if (UNLIKELY(!h->tail_valid || h->tail_ip != ip)) {
    h->ip = ip;
    h->now = now;
    switch (build_tail(h, ip)) {
      case TAIL_READY: break;
      case TAIL_JUMP: DISPATCH_INNER();
      default: goto suspended;
    }
  }
  ip = h->tail;
  DISPATCH_INNER();
}

op_loop_edge: {
  struct hardware_loop *loop = &h->loop[0];
  struct slot *end = h->tail_ip;
  if (loop->end_ip != end || loop->count <= 1) {
    loop = &h->loop[1];
    if (loop->end_ip != end || loop->count <= 1) {
      ip = end + SLOT_LENGTH(&h->tail[0]);
      ENTER_BLOCK();
    }
  }
  if (UNLIKELY(!loop->start_ip)) {
    SAVE();
    platform_fault(p, FAULT_FETCH, h, loop->start, "a hardware loop starts outside code memory");
    goto suspended;
  }
  loop->count--;
  ip = loop->start_ip;
  if (LIKELY(loop->warm_epoch == h->l0_epoch)) {
    if (UNLIKELY(now > limit + SPIN_QUANTUM)) goto yield_at_entry;
    DISPATCH();
  }
  loop->warm_epoch = h->l0_epoch; /* fetching below changes the epoch when a line is missing */
  ENTER_BLOCK();
}

#include "handlers_base.h"
#include "handlers_float.h"
#include "handlers_memory.h"
#include "handlers_simd.h"
#include "handlers_xpulp.h"
}
