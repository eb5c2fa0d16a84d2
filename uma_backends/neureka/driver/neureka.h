/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the NEUREKA accelerator for bare-metal programs on the cluster. Freestanding C11, no C library.
 *
 * A job is six pointers plus a shape. Shapes are register words that the compiler computed ahead of time, shared by all
 * tiles of equal size: a job whose shape already sits in the hardware context costs six stores instead of 24. Keep
 * shapes in L1; a load from L2 takes 15 cycles.
 *
 * One core uses the driver; others synchronise with that core. Both hardware contexts stay busy: submit returns as soon
 * as a context is programmed. Buffers of a job may be reused only after neureka_wait(ticket).
 *
 *   neureka_init();
 *   neureka_ticket first = neureka_submit(&tiles[0]);
 *   neureka_submit(&tiles[1]);
 *   neureka_wait(first);
 *   neureka_wait_all();
 *   neureka_term(); */
#ifndef NEUREKA_DRIVER_H
#define NEUREKA_DRIVER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Job registers 6 to 23; a shape must not change while jobs use it. */
enum neureka_shape_word {
  NEUREKA_INFEAT_D0, NEUREKA_INFEAT_D1, NEUREKA_INFEAT_D2, NEUREKA_OUTFEAT_D0, NEUREKA_OUTFEAT_D1, NEUREKA_OUTFEAT_D2,
  NEUREKA_WEIGHTS_D0, NEUREKA_WEIGHTS_D1, NEUREKA_WEIGHTS_D2, NEUREKA_SUBTILE_REM0, NEUREKA_SUBTILE_REM1,
  NEUREKA_SUBTILE_REM2, NEUREKA_SUBTILE_NB0, NEUREKA_SUBTILE_NB1, NEUREKA_PADDING, NEUREKA_WEIGHT_OFFSET,
  NEUREKA_FILTER_MASK, NEUREKA_CONFIG0, NEUREKA_SHAPE_WORDS
};
struct neureka_shape {
  uint32_t words[NEUREKA_SHAPE_WORDS];
};

/* Job registers 0 to 5 as the hardware wants them: weights as an offset into the weight memory if they lie there,
 * input less its top and left padding. Unused pointers are 0. */
struct neureka_job {
  uint32_t weights, input, output, scale, shift, bias;
  const struct neureka_shape *shape;
};

/* A job with a shape of its own, as the compiler writes it. */
struct neureka_tile {
  struct neureka_job job;
  struct neureka_shape shape;
};

/* A job whose context still holds the shape of the last job but one, except for some words: register and value. */
#define NEUREKA_SHAPE_REGISTER(word) (0x38u + 4u * (word))
struct neureka_changed_job {
  uint32_t weights, input, output, scale, shift, bias;
  uint32_t count;
  struct {
    uint32_t offset, value;
  } changes[9];
};

/* Counts submitted jobs. */
typedef uint32_t neureka_ticket;

void neureka_init(void); /* priority on L1, event line unmasked on this core; the first time also an empty queue */
void neureka_term(void); /* wait for all jobs, priority back to the cores */

/* Queue a job; sleeps while both contexts are busy. */
neureka_ticket neureka_submit(const struct neureka_job *job);
/* Same for a shape in memory that will be overwritten: always writes all registers. */
neureka_ticket neureka_submit_once(const struct neureka_job *job);
/* Same for what differs from the last job but one, which was submitted by this function or by neureka_submit_once. */
neureka_ticket neureka_submit_changed(const struct neureka_changed_job *job);

int neureka_is_done(neureka_ticket ticket);
void neureka_wait(neureka_ticket ticket);
void neureka_wait_all(void);

#ifdef __cplusplus
}
#endif
#endif /* NEUREKA_DRIVER_H */
