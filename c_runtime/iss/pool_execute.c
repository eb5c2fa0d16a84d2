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
#define ISSUE_AND_WRITE() ISSUE()
/* A result can be read from `cycle_` on. */
#define EXPECT(rd_, cycle_)                          \
  do {                                               \
    c->ready[rd_] = (cycle_);                        \
    c->busy |= (uint32_t)((rd_) < 32) << ((rd_)&31); \
  } while (0)

/* The first call of a platform publishes the offsets of the handlers; what has none is illegal here. */
void EXECUTE(struct platform *p) {
  static const int32_t offsets[SNITCH_OP_COUNT] = {
      BASE_OPS(OFFSET_OF) BASE_MEMORY_OPS(OFFSET_OF) XPULP_MEMORY_OPS(OFFSET_OF) XPULPIMG_OPS(OFFSET_OF)
          SIMD_IMG_OPS(OFFSET_OF) ATOMIC_OPS(OWN_OFFSET)};
#define SCHEDULE pool_schedule
#define QUEUE_INSERT pool_insert
#include "snitch_loop.h"

#include "pool_handlers.h"
#include "pool_handlers_memory.h"
}
