/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame around the handlers, inside an interpreter: who runs next, hooks, and what ends a turn. It needs
 *   QUEUE_WORDS_OF(p)       words of a mask of its harts, see scheduler.h
 *   offsets                 of its handlers, which the first call puts into the platform's table
 *   RESUME_HART()           sets the locals from h; BEGIN_HART() the same at the begin of a turn
 *   TURN_CYCLE              `now` in cycles of the cluster
 *   IS_OBSERVED_SLOT        whether ip is an instruction */
  if (!p->handlers[OP_illegal]) {
    memcpy(p->handlers, offsets, sizeof offsets);
    return;
  }
#ifdef OBSERVED
  if (p->observer.stopped) { /* go on exactly where and with what the last call stopped */
    h = p->observer.stopped;
    limit = p->observer.limit;
    p->observer.stopped = NULL;
    RESUME_HART();
    goto *(void *)((char *)&&op_decode + h->resume);
  }
#endif

next_hart:
  h = schedule(p, &limit, QUEUE_WORDS_OF(p));
  if (!h) return;
  BEGIN_HART();
#ifdef OBSERVED
  if (!h->observed) goto observe;
#endif
  goto *(void *)((char *)&&op_decode + h->resume);

#ifdef OBSERVED
observe: /* before each instruction */
  if (LIKELY(IS_OBSERVED_SLOT)) {
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
  queue_insert(p, h, TURN_CYCLE, QUEUE_WORDS_OF(p));
  goto next_hart;

yield_at_entry: /* the same between two instructions */
  SAVE();
  h->resume = ip->handler;
  h->observed = 0;
  queue_insert(p, h, TURN_CYCLE, QUEUE_WORDS_OF(p));
  goto next_hart;

suspended: /* asleep, blocked or stopped; whoever did it keeps the hart's state, `resume` replays the instruction */
  goto next_hart;

op_decode:
  decode_block(h, ip);
  if (!(ip->wrap & WRAP_BOUNDARY)) FETCH_BLOCK(1); /* the wrapper does it there */
  DISPATCH_SLOT();

op_illegal:
  SAVE();
  platform_fault(p, FAULT_ILLEGAL, h, 0, "illegal instruction");
  goto suspended;
