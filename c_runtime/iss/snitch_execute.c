/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of Snitch cores with a DMA core; snitch_interpreter.h has the rules. */
#include "snitch_interpreter.h"

#ifdef OBSERVED
#define EXECUTE snitch_execute_observed
#else
#define EXECUTE snitch_execute
#endif
#define ISSUE_AND_WRITE()                                             \
  do {                                                                \
    ISSUE();                                                          \
    snitch_take_port(c, now);                                         \
  } while (0)

/* The first call of a platform publishes the offsets of the handlers. */
void EXECUTE(struct platform *p) {
  static const int32_t offsets[SNITCH_OP_COUNT] = {
      BASE_OPS(OFFSET_OF) BASE_MEMORY_OPS(OFFSET_OF) SNITCH_OPS(OWN_OFFSET)};
#define SCHEDULE schedule
#define QUEUE_INSERT queue_insert
#include "snitch_loop.h"

#include "snitch_handlers.h"
#include "snitch_handlers_memory.h"
}
