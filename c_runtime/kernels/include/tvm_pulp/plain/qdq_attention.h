/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention of quantize/dequantize graphs in plain C. */
#ifndef TVM_PULP_PLAIN_QDQ_ATTENTION_H
#define TVM_PULP_PLAIN_QDQ_ATTENTION_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/real.h"
#include "tvm_pulp/work_share.h"

static inline int32_t tvm_pulp_load_through(const uint8_t *data, uint32_t index, const uint8_t *table, uint32_t type) {
  return table ? tvm_pulp_load(table, data[index], type) : tvm_pulp_load(data, index, type);
}

static inline void tvm_pulp_plain_qdq_attention_row(const struct tvm_pulp_qdq_attention_args *args, uint32_t head,
                                                    uint32_t query, uint8_t *weights) {
  uint32_t shared = head / args->group, keys = args->keys, size = args->size;
  const uint8_t *q = args->q + head * args->q_head_stride + query * args->q_stride;
  const uint8_t *k = args->k + shared * args->k_head_stride, *v = args->v + shared * args->v_head_stride;
  const uint8_t *mask = args->mask ? args->mask + head * args->mask_head_stride + query * args->mask_stride : 0;
  uint8_t *y = args->y + head * args->y_head_stride + query * args->y_stride;
  int32_t best = 0, total = 0;
  for (uint32_t key = 0; key < keys; ++key) {
    int32_t dot = 0;
    for (uint32_t i = 0; i < size; ++i) {
      dot += (tvm_pulp_load_through(q, i, args->q_table, args->q_type) - args->zero_point_q) *
             (tvm_pulp_load_through(k + key * args->k_stride, i, args->k_table, args->k_type) - args->zero_point_k);
    }
    int32_t logit = tvm_pulp_round_within((float)dot * args->reals[0], args->logit_low, args->logit_high);
    uint32_t at = (mask ? 256u * mask[key] : 0u) + (uint32_t)(logit - args->logit_low);
    weights[key] = args->table[at];
    best = tvm_pulp_max(best, weights[key]);
  }
  for (uint32_t key = 0; key < keys; ++key) total += args->exponential[best - weights[key]];
  float factor = args->reals[1] / (float)total;
  for (uint32_t key = 0; key < keys; ++key) {
    float e = (float)args->exponential[best - weights[key]];
    weights[key] = (uint8_t)tvm_pulp_round_within(e * factor, 0, args->probability_high);
  }
  for (uint32_t i = 0; i < size; ++i) {
    int32_t sum = 0;
    for (uint32_t key = 0; key < keys; ++key) {
      sum += weights[key] * (tvm_pulp_load(v + key * args->v_stride, i, args->v_type) - args->zero_point_v);
    }
    y[i] = (uint8_t)(tvm_pulp_round_within((float)sum * args->reals[2], args->low, args->high) + args->zero_point);
  }
}

static inline void tvm_pulp_plain_qdq_attention(const struct tvm_pulp_qdq_attention_args *args, uint32_t core,
                                                uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->heads * args->queries, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    uint32_t head = row / args->queries;
    tvm_pulp_plain_qdq_attention_row(args, head, row - head * args->queries,
                                     args->scratch + core * args->scratch_stride);
  }
}

#endif /* TVM_PULP_PLAIN_QDQ_ATTENTION_H */
