/* SPDX-License-Identifier: Apache-2.0
 *
 * New rows of keys and values behind those of a past. */
#ifndef TVM_PULP_PLAIN_PAST_QDQ_ATTENTION_H
#define TVM_PULP_PLAIN_PAST_QDQ_ATTENTION_H

#include "tvm_pulp/plain/qdq_attention.h"

/* New rows go behind those of the past that count. Every core writes all of them, the same bytes as the others: none
 * has to wait for another. */
static inline void tvm_pulp_append_rows(const uint8_t *past, const uint8_t *rows, uint32_t at, uint32_t bytes) {
  uint8_t *to = (uint8_t *)(uintptr_t)past + at;
  uint32_t i = 0;
  if (((at | bytes) & 3u) == 0u) {
    for (; i < bytes; i += 4u) *(uint32_t *)(void *)(to + i) = *(const uint32_t *)(const void *)(rows + i);
  }
  for (; i < bytes; ++i) to[i] = rows[i];
}

/* What qdq_attention is to do, with the new rows in place. */
static inline struct tvm_pulp_qdq_attention_args
tvm_pulp_joined_rows(const struct tvm_pulp_past_qdq_attention_args *args) {
  struct tvm_pulp_qdq_attention_args whole = args->whole;
  const uint32_t width = whole.heads / whole.group * whole.size, length = (uint32_t)*args->length;
  tvm_pulp_append_rows(whole.k, args->new_k, length * width, args->rows * width);
  tvm_pulp_append_rows(whole.v, args->new_v, length * width, args->rows * width);
  /* Columns of the mask for the rows that do not count are left out. */
  if (whole.mask) whole.mask += whole.keys - args->rows - length;
  whole.keys = length + args->rows;
  return whole;
}

#endif /* TVM_PULP_PLAIN_PAST_QDQ_ATTENTION_H */
