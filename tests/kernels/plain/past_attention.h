/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention over a cache, and rotary positions on pairs, in plain C. */
#ifndef TVM_PULP_TWIN_PAST_ATTENTION_H
#define TVM_PULP_TWIN_PAST_ATTENTION_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/kernels.h"
#include "plain/past_parts.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_rotary(const struct tvm_pulp_rotary_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->positions * args->heads, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    const int8_t *x = args->x + (uintptr_t)at * args->size;
    const int16_t *rotation = args->rotation + (uintptr_t)(at / args->heads) * args->size;
    int8_t *y = args->y + (uintptr_t)at * args->size;
    for (uint32_t i = 0; i < args->size; i += 2u) {
      int32_t even = x[i], odd = x[i + 1u], cosine = rotation[i], sine = rotation[i + 1u];
      y[i] = (int8_t)tvm_pulp_clip((even * cosine - odd * sine + (1 << 13)) >> 14, -128, 127);
      y[i + 1u] = (int8_t)tvm_pulp_clip((even * sine + odd * cosine + (1 << 13)) >> 14, -128, 127);
    }
  }
}

/* Logits of `count` rows of keys behind `logits`; returns the largest of them and `largest`. */
static inline int32_t tvm_pulp_plain_past_logits(const struct tvm_pulp_past_attention_args *args, const int8_t *q,
                                                   const int8_t *k, uint32_t stride, uint32_t count, int32_t *logits,
                                                   int32_t largest) {
  for (uint32_t key = 0; key < count; ++key, k += stride) {
    int32_t acc = 0;
    for (uint32_t i = 0; i < args->size; ++i) acc += q[i] * k[i];
    logits[key] = (acc * args->mul + (1 << (args->shift - 1))) >> args->shift;
    if (logits[key] > largest) largest = logits[key];
  }
  return largest;
}

static inline void tvm_pulp_plain_past_attention(const struct tvm_pulp_past_attention_args *args, uint32_t core,
                                                   uint32_t cores) {
  const uint32_t length = (uint32_t)*args->length, rows = args->by_element ? 4u : 1u;
  struct tvm_pulp_range range = tvm_pulp_share(args->queries * args->heads, core, cores);
  int32_t *logits = (int32_t *)(void *)(args->scratch + (uintptr_t)core * args->scratch_stride);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    const uint32_t query = at / args->heads, head = at % args->heads, column = head / args->group * args->size;
    const uint32_t seen = args->first + query + 1u;
    const int8_t *q = args->q + (uintptr_t)query * args->q_stride + head * args->size;
    int32_t largest = -(1 << 30);
    largest = tvm_pulp_plain_past_logits(args, q, args->past_k + column, args->past_stride, length, logits, largest);
    largest = tvm_pulp_plain_past_logits(args, q, args->k + column, args->k_stride, seen, logits + length, largest);
    int32_t total = 0;
    for (uint32_t key = 0; key < length + seen; ++key) {
      int32_t distance = largest - logits[key];
      logits[key] = args->exponential[distance < 255 ? distance : 255];
      total += logits[key];
    }
    for (uint32_t i = 0; i < args->size; ++i) {
      int32_t acc = 0;
      for (uint32_t key = 0; key < length; ++key) {
        acc += logits[key] * tvm_pulp_plain_value(args->past_v, args->value_stride, rows, key, column + i);
      }
      for (uint32_t key = 0; key < seen; ++key) {
        acc += logits[length + key] * args->v[(uintptr_t)key * args->k_stride + column + i];
      }
      /* Values above -128 make the numerator positive. */
      int32_t mean = ((acc + 128 * total) * 2 + total) / (2 * total) - 128;
      args->y[(uintptr_t)query * args->q_stride + head * args->size + i] = (int8_t)mean;
    }
  }
}

#endif /* TVM_PULP_TWIN_PAST_ATTENTION_H */
