/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of attention over the keys, for some queries of one head at a time. */
#ifndef TVM_PULP_ATTENTION_STEPS_H
#define TVM_PULP_ATTENTION_STEPS_H

#include <stdint.h>

#include "reciprocal.h"
#include "tile.h"
#include "tvm_pulp/kernels.h"

enum { TVM_PULP_ATTENTION_BATCH = 16 };

struct tvm_pulp_attention_core {
  const struct tvm_pulp_attention_args *args;
  uint32_t padded;        /* keys rounded up to 4 */
  uint32_t inverse;       /* divides by levels - 1 */
  uint8_t *logits;        /* of the queries, plus 128; later their weights; `padded` apart */
  uint32_t *exponentials; /* of the queries, `padded` apart */
  int32_t *values;        /* of one head, packed */
  int32_t best[TVM_PULP_ATTENTION_BATCH]; /* largest logit */
  struct tvm_pulp_reciprocal reciprocal[TVM_PULP_ATTENTION_BATCH]; /* of the sum of the exponentials */
  struct tvm_pulp_tiles tiles;
  int32_t no_bias[64];
};

/* Logits of `count` queries. */
void tvm_pulp_attention_logits(struct tvm_pulp_attention_core *c, const int8_t *q, const int8_t *k, const int8_t *mask,
                               uint32_t count);

/* Exponentials of the logits. */
void tvm_pulp_attention_exponentials(struct tvm_pulp_attention_core *c, uint32_t count);

#endif /* TVM_PULP_ATTENTION_STEPS_H */
