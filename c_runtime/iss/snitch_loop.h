/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of an interpreter of Snitch cores, which says QUEUE_WORDS_OF and the `offsets` of its handlers. */
  struct hart *h;
  struct snitch_core *c;
  struct slot *ip;
  uint64_t now, limit;
#define TURN_CYCLE now
#define IS_OBSERVED_SLOT 1
#define RESUME_HART() (c = h->snitch_core, ip = h->ip, now = h->now)
#define BEGIN_HART RESUME_HART
#include "interpreter_loop.h"

op_wrapped: /* the first instruction behind a border: lines are asked for one stretch of code at a time */
  FETCH_BLOCK(0);
  DISPATCH_INNER();
