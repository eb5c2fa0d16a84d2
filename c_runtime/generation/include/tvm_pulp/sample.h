/* SPDX-License-Identifier: Apache-2.0
 *
 * The next token from its logits, in integers: the same seed gives the same tokens on every machine. */
#ifndef TVM_PULP_SAMPLE_H
#define TVM_PULP_SAMPLE_H

#include <stdint.h>

/* A multiplier of 0 takes the largest logit. Otherwise a logit d below the largest has weight
 * 2^20 * 2^-(d * multiplier / 2^24), 0 from 2^-20 on: multiplier = 2^24 * (real value of a step) * log2(e) / temperature. */
struct tvm_pulp_sampling {
  uint32_t multiplier;
  uint32_t top_k; /* only tokens as likely as the k-th; 0: all */
  uint32_t top_p; /* only the likeliest tokens that have this much of 2^16 together; 0: all */
  uint32_t random; /* state of the generator, not 0; every draw changes it */
};

/* `room` is for three times `count` words. Ties of the largest logit go to the first. */
uint32_t tvm_pulp_sample(const int32_t *logits, uint32_t count, uint32_t *room, struct tvm_pulp_sampling *sampling);

/* The same in two steps, the first of which several cores can share: weights of the tokens [begin, end), from the
 * largest of all logits and a multiplier that is not 0; */
void tvm_pulp_sample_weights(const int32_t *logits, uint32_t begin, uint32_t end, int32_t largest,
                             uint32_t multiplier, uint32_t *weights);
/* and the draw. `best` is the token with the largest logit; `weights` are changed, `room` is for twice `count` words. */
uint32_t tvm_pulp_sample_weighted(uint32_t *weights, uint32_t count, uint32_t best, uint32_t *room,
                                  struct tvm_pulp_sampling *sampling);

#endif /* TVM_PULP_SAMPLE_H */
