/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver of the NE16 accelerator for bare-metal programs on the cluster. Freestanding C11, no C library.
 *
 * A job is the 24 register words that the compiler computed, six of them addresses. Each of the two hardware contexts
 * keeps its words: a job may also be what differs from the last job but one. Keep jobs in L1; a load from L2 takes long.
 *
 * One core uses the driver; others synchronise with that core. Submit returns as soon as a context is programmed.
 * Buffers of a job may be reused only after ne16_wait(ticket).
 *
 *   ne16_init();
 *   ne16_ticket first = ne16_submit(&jobs[0]);
 *   ne16_submit(&jobs[1]);
 *   ne16_wait(first);
 *   ne16_wait_all();
 *   ne16_term(); */
#ifndef NE16_DRIVER_H
#define NE16_DRIVER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ne16_word {
  NE16_WEIGHTS_PTR, NE16_INFEAT_PTR, NE16_OUTFEAT_PTR, NE16_SCALE_PTR, NE16_SCALE_SHIFT_PTR, NE16_SCALE_BIAS_PTR,
  NE16_INFEAT_D0, NE16_INFEAT_D1, NE16_INFEAT_D2, NE16_OUTFEAT_D0, NE16_OUTFEAT_D1, NE16_OUTFEAT_D2,
  NE16_WEIGHTS_D0, NE16_WEIGHTS_D1, NE16_WEIGHTS_D2, NE16_SUBTILE_REM0, NE16_SUBTILE_REM1, NE16_SUBTILE_REM2,
  NE16_SUBTILE_NB0, NE16_SUBTILE_NB1, NE16_PADDING, NE16_WEIGHT_OFFSET, NE16_FILTER_MASK, NE16_CONFIG0, NE16_WORDS
};

/* Addresses as the hardware wants them: input less its top and left padding; unused ones are 0. */
struct ne16_job {
  uint32_t words[NE16_WORDS];
};

/* A job whose context still holds the words of the last job but one, except for its addresses and some others: register
 * and value. */
#define NE16_REGISTER(word) (0x20u + 4u * (word))
struct ne16_changed_job {
  uint32_t addresses[6];
  uint32_t count;
  struct {
    uint32_t offset, value;
  } changes[8];
  uint32_t unused; /* as large as a whole job, in whose place the compiler writes it */
};

/* Counts submitted jobs. */
typedef uint32_t ne16_ticket;

void ne16_init(void); /* clock on, priority on L1; the first time also an empty queue */
void ne16_term(void); /* wait for all jobs, priority back to the cores, clock off */

/* Queue a job; sleeps while both contexts are busy. */
ne16_ticket ne16_submit(const struct ne16_job *job);
/* Same for what differs from the last job but one. */
ne16_ticket ne16_submit_changed(const struct ne16_changed_job *job);

void ne16_wait(ne16_ticket ticket);
void ne16_wait_all(void);

#ifdef __cplusplus
}
#endif
#endif /* NE16_DRIVER_H */
