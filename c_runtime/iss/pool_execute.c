/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of Snitch cores in tiles; snitch_interpreter.h has the rules. Results of loads and of the unit for
 * products and packed operations have a write port of their own, so that only their times count. */
#include "pool.h"
#include "simd.h"
#include "snitch_interpreter.h"

#ifdef OBSERVED
#define EXECUTE pool_execute_observed
#else
#define EXECUTE pool_execute
#endif
#define IS_BARRIER(number) 0
#define ISSUE_AND_WRITE() ISSUE()
/* A result can be read from `cycle_` on. */
#define EXPECT(rd_, cycle_)                          \
  do {                                               \
    c->ready[rd_] = (cycle_);                        \
    c->busy |= (uint32_t)((rd_) < 32) << ((rd_)&31); \
  } while (0)

/* A unit of the core's own, which takes an instruction per cycle. */
#define MULTIPLY(name, expression)                                 \
  op_##name : {                                                    \
    ISSUE();                                                       \
    RD = (expression);                                             \
    EXPECT(ip->rd, now + (uint64_t)p->config.scoreboard_multiply); \
    NEXT();                                                        \
  }
#define PULP MULTIPLY

/* One division at a time. */
#define DIVIDE(name, magnitude_a, magnitude_b, expression)   \
  op_##name : {                                              \
    uint32_t a = S1, b = S2;                                 \
    uint64_t steps = divide_steps(magnitude_a, magnitude_b); \
    ISSUE();                                                 \
    STALL_UNTIL(c->offload_free, multiply_divide);           \
    c->offload_free = now + (steps > 3 ? steps - 3 : 1);     \
    RD = (expression);                                       \
    EXPECT(ip->rd, now + steps);                             \
    NEXT();                                                  \
  }

/* A load has a place for its answer: any that is free, else the first that will be. */
#define BEGIN_OPERATION(is_load)                                                               \
  uint64_t *place_ = NULL;                                                                     \
  ISSUE();                                                                                     \
  IN_TURN();                                                                                   \
  if (is_load) {                                                                               \
    uint64_t *loads_ = p->pool->load[h->index];                                                \
    place_ = &loads_[c->oldest];                                                               \
    if (UNLIKELY(*place_ > now)) {                                                             \
      for (uint32_t i_ = 0; i_ < (uint32_t)p->config.scoreboard_memory_operations; i_++)       \
        if (loads_[i_] < *place_) place_ = &loads_[i_];                                        \
      STALL_UNTIL(*place_, load_use);                                                          \
    }                                                                                          \
    c->oldest = c->oldest + 1 == (uint32_t)p->config.scoreboard_memory_operations ? 0 : c->oldest + 1; \
    IN_TURN();                                                                                 \
  }

#define ASK_L1(bytes, is_write)                                                     \
  do {                                                                              \
    uint64_t left_ = pool_ask(p, h->index, offset, now, &answer_);                  \
    CHECK_RACE(bytes, is_write);                                                    \
    OBSERVE_ACCESS(bytes, is_write);                                                \
    STALL_UNTIL(left_, l1_conflict);                                                \
  } while (0)

#define END_OPERATION(is_load)                       \
  do {                                               \
    if (is_load) *place_ = answer_;                  \
    if (answer_ > c->answered) c->answered = answer_; \
  } while (0)

void EXECUTE(struct platform *p) {
  static const int32_t offsets[OP_COUNT] = {
      BASE_OPS(OFFSET_OF) BASE_MEMORY_OPS(OFFSET_OF) XPULP_MEMORY_OPS(OFFSET_OF) XPULPIMG_OPS(OFFSET_OF)
          SIMD_IMG_OPS(OFFSET_OF) ATOMIC_OPS(OFFSET_OF)};
#define QUEUE_WORDS_OF(p) (p)->words
#include "snitch_loop.h"

#include "snitch_handlers.h"
#include "handlers_xpulpimg.h"
  MULTIPLY(pv_packhi_b, (S1 & 0xffff0000u) | S2 >> 16) /* the decoder's name for upper halves here */
#define XPULP_ADDRESSES
#include "snitch_handlers_memory.h"
}
