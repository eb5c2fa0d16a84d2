/* SPDX-License-Identifier: Apache-2.0
 *
 * What the interpreters of Snitch cores of all clusters have in common; `c` is the core's scoreboard. An instruction waits
 * until its registers are there, which costs one test as long as none is on its way. */
#include "interpreter.h"
#include "snitch.h"

/* Cycles of a division: as many steps as the quotient has bits. */
static uint64_t divide_steps(uint32_t a, uint32_t b) {
  int zeros_a = a ? __builtin_clz(a) : 32, zeros_b = b ? __builtin_clz(b) : 32;
  if (!b) return 37;
  return zeros_b >= zeros_a ? 5 + (uint64_t)(zeros_b - zeros_a) : 4;
}

#define SLOT_BYTES(which) 4u
#define NEXT()   \
  do {           \
    now += 1;    \
    ip += 2;     \
    DISPATCH();  \
  } while (0)
#define STALL_UNTIL(cycle_, counter)    \
  do {                                  \
    uint64_t until_ = (cycle_);         \
    if (UNLIKELY(now < until_)) {       \
      h->count.counter += until_ - now; \
      now = until_;                     \
    }                                   \
  } while (0)
/* Registers that are read or written; `cost` of the slot is their mask. */
#define ISSUE()                                                                              \
  do {                                                                                       \
    if (UNLIKELY(c->busy & ip->cost)) STALL_UNTIL(snitch_wait(c, ip->cost, now), load_use);  \
  } while (0)
#define SLOTS_OF_LINE SNITCH_LINE_SLOTS
#define FETCH_LINES(line, jumped) snitch_fetch(h, line, ip->lines, now, jumped)
#define IN_TURN()                          \
  do {                                     \
    if (UNLIKELY(now > limit)) goto yield; \
  } while (0)
#define IN_L1(type) ((offset >> 2) < h->fast_words && (offset & (sizeof(type) - 1)) == 0)

#define WAIT_FOR_MEMORY() STALL_UNTIL(c->answered, load_use)
#define JUMP_CYCLES 1
#define JUMP_REGISTER_STALL() (void)0
#define ASK_HOST() (void)0
#define LEAVE_HANDLER() (void)0
