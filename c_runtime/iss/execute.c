/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of cores that wait for each result: interpreter.h has the rules.
 *
 * Hardware loops cost nothing elsewhere: the slot at a loop end is wrapped. The wrapper continues in `h->tail`, a
 * private copy of that slot followed by the pseudo-operation `loop_edge`, which decides where to go on. */
#include "float_arithmetic.h"
#include "interpreter.h"
#include "loops.h"
#include "simd.h"

#define X(n) h->x[n]
#define NEXT_SLOT() (ip = (struct slot *)(void *)((char *)ip + ip->step))
#define SLOT_BYTES(which) (SLOT_LENGTH(which) * 2)
#ifdef OBSERVED
#define EXECUTE execute_observed
#define NEXT_AFTER_ACCESS() \
  do {                      \
    NEXT_SLOT();            \
    DISPATCH();             \
  } while (0)
#else
#define EXECUTE execute
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

#define SLOTS_OF_LINE LINE_SLOTS
#define FETCH_LINES(line, jumped) fetch_lines(h, line, ip->lines, now)

/* The first call of a platform publishes the offsets of the handlers. */
void EXECUTE(struct platform *p) {
  static const int32_t offsets[OP_COUNT] = {PULP_OPS(OFFSET_OF)};
  struct hart *h;
  struct slot *ip;
  uint64_t now, limit;
#define QUEUE_WORDS_OF(p) 1
#define TURN_CYCLE cluster_cycle(h, now)
#define IS_OBSERVED_SLOT (ip->op != OP_loop_edge) /* a loop edge is no instruction */
#define RESUME_HART() (ip = h->ip, now = h->now)
/* What is nearly always so is tested, not loaded: the next hart is found the sooner the earlier `now` is known. */
#define BEGIN_HART()              \
  do {                            \
    ip = h->ip;                   \
    now = p->wheel_base;          \
    if (UNLIKELY(h->now != now)) { \
      KEEP_BRANCH();              \
      now = h->now;               \
    }                             \
    limit += h->slack;            \
  } while (0)
#include "interpreter_loop.h"

op_wrapped: {
  uint32_t wrap = ip->wrap;
  if (wrap & WRAP_COMPRESSED) h->count.compressed++;
  if (wrap & WRAP_BOUNDARY) FETCH_BLOCK(1);
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
      ENTER_BLOCK(1);
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
  ENTER_BLOCK(1);
}

#include "handlers_ri5cy.h"
#include "handlers_float.h"
#include "handlers_memory.h"
#define PULP ALU
#include "handlers_xpulpimg.h"
#include "handlers_simd.h"
#include "handlers_xpulp.h"
}
