/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of Snitch cores with a DMA core; snitch_interpreter.h has the rules. */
#include "snitch_interpreter.h"

#ifdef OBSERVED
#define EXECUTE snitch_execute_observed
#else
#define EXECUTE snitch_execute
#endif
#define IS_BARRIER(number) ((number) == SNITCH_BARRIER)
#define ISSUE_AND_WRITE()      \
  do {                         \
    ISSUE();                   \
    snitch_take_port(c, now);  \
  } while (0)
/* A result can be read from `cycle_` on, if the write port is free. */
#define EXPECT(rd_, cycle_) snitch_expect(c, rd_, cycle_, now)

/* One multiplier and one divider for all cores, first come first served; a request waits in a register of its core. */
#define OFFLOAD(unit, expression, distance, occupied)        \
  do {                                                       \
    uint64_t granted;                                        \
    ISSUE();                                                 \
    STALL_UNTIL(c->offload_free, multiply_divide);           \
    IN_TURN();                                               \
    granted = p->snitch->unit > now ? p->snitch->unit : now; \
    p->snitch->unit = granted + (occupied);                  \
    c->offload_free = granted;                               \
    c->multiplications++;                                    \
    RD = (expression);                                       \
    EXPECT(ip->rd, granted + (distance));                    \
    NEXT();                                                  \
  } while (0)

#define MULTIPLY(name, expression) \
  op_##name:                       \
  OFFLOAD(multiplier_free, expression, (uint64_t)p->config.scoreboard_multiply, 1);

#define DIVIDE(name, magnitude_a, magnitude_b, expression)               \
  op_##name : {                                                          \
    uint32_t a = S1, b = S2;                                             \
    uint64_t steps = divide_steps(magnitude_a, magnitude_b);             \
    OFFLOAD(divider_free, expression, steps, steps > 3 ? steps - 3 : 1); \
  }

/* Memory operations are answered in order, several are under way, one of them a load. */
#define BEGIN_OPERATION(is_load)                                                    \
  do {                                                                              \
    ISSUE();                                                                        \
    if (is_load) STALL_UNTIL(c->load_free, load_use);                               \
    STALL_UNTIL(c->operation[c->oldest], external_store_cycles);                    \
    if (UNLIKELY(c->port_free > now + 1)) STALL_UNTIL(c->port_free - 1, l1_conflict); \
    IN_TURN();                                                                      \
  } while (0)

#define ASK_L1(bytes, is_write)                                                     \
  do {                                                                              \
    uint64_t asked_ = c->port_free > now ? c->port_free : now;                      \
    uint64_t served_ = snitch_take_bank(p, offset, asked_);                         \
    CHECK_RACE(bytes, is_write);                                                    \
    OBSERVE_ACCESS(bytes, is_write);                                                \
    c->congested += served_ - asked_;                                               \
    c->port_free = served_ + 1;                                                     \
    answer_ = served_ + (uint64_t)p->config.scoreboard_load;                        \
  } while (0)

#define END_OPERATION(is_load)                                                      \
  do {                                                                              \
    if (UNLIKELY(answer_ <= c->answered)) answer_ = c->answered + 1;                \
    c->answered = answer_;                                                          \
    c->operation[c->oldest] = answer_;                                              \
    c->oldest = c->oldest + 1 == (uint32_t)p->config.scoreboard_memory_operations ? 0 : c->oldest + 1; \
    if (is_load) c->load_free = answer_;                                            \
  } while (0)

void EXECUTE(struct platform *p) {
  static const int32_t offsets[OP_COUNT] = {
      BASE_OPS(OFFSET_OF) BASE_MEMORY_OPS(OFFSET_OF) ATOMIC_OPS(OFFSET_OF) XDMA_OPS(OFFSET_OF)};
#define QUEUE_WORDS_OF(p) 1
#include "snitch_loop.h"

#include "snitch_handlers.h"
#include "snitch_handlers_dma.h"
#include "snitch_handlers_memory.h"
}
