/* SPDX-License-Identifier: Apache-2.0
 *
 * What drivers of engines with a job queue share. The registers are those of the public control slave: ACQUIRE gives a
 * ticket and the lock, job words go to the next context, TRIGGER commits it; contexts take turns from context 0 on.
 *
 * A driver defines before it includes this header
 *   ENGINE_READ(offset), ENGINE_WRITE(offset, value)   access to a register
 *   ENGINE_SLEEP()                                     waits for the engine's event; may return early
 * One core uses a driver; others synchronise with that core. */
#ifndef TVM_PULP_ENGINE_DRIVER_H
#define TVM_PULP_ENGINE_DRIVER_H

#include <stdint.h>

enum {
  ENGINE_TRIGGER = 0x00,
  ENGINE_ACQUIRE = 0x04,
  ENGINE_STATUS = 0x0C,  /* a byte per context, not 0 while it is busy */
  ENGINE_RUNNING = 0x10, /* number of finished jobs modulo 256 */
  ENGINE_SOFT_CLEAR = 0x14,
  ENGINE_JOB_WORDS = 0x20
};

/* Operands written by this core must be in memory before the engine reads them, results not read before it wrote them. */
static inline void engine_order_memory(void) { __asm__ volatile("" ::: "memory"); }

static inline void engine_soft_clear(uint32_t value) {
  ENGINE_WRITE(ENGINE_SOFT_CLEAR, value);
  /* The engine needs ten cycles; a register access takes three. */
  for (int i = 0; i < 4; i++) (void)ENGINE_READ(ENGINE_STATUS);
}

/* Empty the queue, so that it starts over with context 0. */
static inline void engine_clear(void) { engine_soft_clear(0); }

/* Do the same with an idle engine, which keeps job words and tickets. */
static inline void engine_start_over(void) { engine_soft_clear(1); }

/* Take a context. ACQUIRE answers below 256 on success. */
static inline void engine_acquire(void) {
  while (ENGINE_READ(ENGINE_ACQUIRE) > 0xFFu) ENGINE_SLEEP();
}

/* Six arguments are six loads before the first store, so that no store waits for its load. */
static inline void engine_write_six(uint32_t offset, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e,
                                    uint32_t f) {
  ENGINE_WRITE(offset, a);
  ENGINE_WRITE(offset + 4, b);
  ENGINE_WRITE(offset + 8, c);
  ENGINE_WRITE(offset + 12, d);
  ENGINE_WRITE(offset + 16, e);
  ENGINE_WRITE(offset + 20, f);
}

/* Queue the programmed job; where nothing was started since the queue was emptied it waits for engine_trigger. */
static inline void engine_commit(void) { ENGINE_WRITE(ENGINE_TRIGGER, 1); }

static inline void engine_trigger(void) {
  engine_order_memory();
  ENGINE_WRITE(ENGINE_TRIGGER, 0);
}

/* Whether a job is over, of those that the queue may still hold. Tickets count jobs from the first one on. */
static inline int engine_has_finished(uint32_t ticket) {
  return ((ENGINE_READ(ENGINE_RUNNING) - ticket - 1u) & 0xFFu) < 0x80u;
}

static inline void engine_wait_all(void) {
  while (ENGINE_READ(ENGINE_STATUS) != 0u) ENGINE_SLEEP();
  engine_order_memory();
}

#endif /* TVM_PULP_ENGINE_DRIVER_H */
