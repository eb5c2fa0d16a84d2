/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention and rotary embedding in plain C. */
#ifndef TVM_PULP_PLAIN_ATTENTION_H
#define TVM_PULP_PLAIN_ATTENTION_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/plain/softmax.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_rope(const struct tvm_pulp_rope_args *args, uint32_t core, uint32_t cores) {
  uint32_t size = args->size;
  struct tvm_pulp_range range = tvm_pulp_share(args->positions * args->heads, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    const int8_t *x = args->x + (uintptr_t)at * size;
    const int8_t *rotation = args->rotation + (uintptr_t)(at / args->heads) * size * size;
    for (uint32_t j = 0; j < size; ++j) {
      int32_t acc = 0;
      for (uint32_t i = 0; i < size; ++i) acc += x[i] * rotation[i * size + j];
      tvm_pulp_finish(&args->requant, args->y, at * size + j, acc, 0);
    }
  }
}

/* Logits of one query into `logits`. */
static inline void tvm_pulp_plain_logits(const struct tvm_pulp_attention_args *args, const int8_t *q, const int8_t *k,
                                         const int8_t *mask, int8_t *logits) {
  for (uint32_t key = 0; key < args->keys; ++key, k += args->k_stride) {
    int32_t acc = 0;
    for (uint32_t i = 0; i < args->size; ++i) acc += q[i] * k[i];
    int32_t logit = tvm_pulp_requantize_any(&args->logit_requant, acc, 0);
    if (args->table) logit = args->table[logit - args->logit_requant.low] - 128;
    if (mask) logit = tvm_pulp_clip(logit + mask[key], -128, 127);
    logits[key] = (int8_t)logit;
  }
}

/* (levels - 1) times the exponential `distance` below the largest. */
static inline uint32_t tvm_pulp_plain_exponential(const struct tvm_pulp_attention_args *args, int32_t distance) {
  if (args->small_exponential) return (args->levels - 1u) * args->small_exponential[255 - distance];
  return args->exponential[255 - distance] - 1u;
}

static inline void tvm_pulp_plain_attention(const struct tvm_pulp_attention_args *args, uint32_t core, uint32_t cores) {
  uint32_t keys = args->keys;
  struct tvm_pulp_range range = tvm_pulp_share(args->heads * args->queries, core, cores);
  int8_t *logits = (int8_t *)(args->scratch + (uintptr_t)core * args->scratch_stride);
  uint8_t *weights = (uint8_t *)logits;
  for (uint32_t at = range.begin; at < range.end; ++at) {
    uint32_t head = at / args->queries, query = at % args->queries;
    const int8_t *q = args->q + (uintptr_t)head * args->q_head_stride + (uintptr_t)query * args->q_stride;
    const int8_t *mask = args->mask ? args->mask + (uintptr_t)query * args->mask_stride : 0;
    tvm_pulp_plain_logits(args, q, args->k + (uintptr_t)head * args->k_head_stride, mask, logits);
    int32_t highest = tvm_pulp_row_maximum(logits, keys, TVM_PULP_INT8);
    uint32_t total = 0;
    for (uint32_t key = 0; key < keys; ++key) total += tvm_pulp_plain_exponential(args, highest - logits[key]);
    total /= args->levels - 1u;
    for (uint32_t key = 0; key < keys; ++key) {
      weights[key] = (uint8_t)(tvm_pulp_plain_exponential(args, highest - logits[key]) / total);
    }
    void *y = (uint8_t *)args->y + (uintptr_t)head * args->y_head_stride + (uintptr_t)query * args->y_stride;
    for (uint32_t i = 0; i < args->size; ++i) {
      const int8_t *v = args->v + (uintptr_t)head * args->v_head_stride + i;
      int32_t acc = 0;
      for (uint32_t key = 0; key < keys; ++key) {
        int32_t weight = args->probability ? args->probability[weights[key]] : weights[key];
        acc += weight * v[(uintptr_t)key * args->v_stride];
      }
      tvm_pulp_finish(&args->requant, y, i, acc, 0);
    }
  }
}

#endif /* TVM_PULP_PLAIN_ATTENTION_H */
