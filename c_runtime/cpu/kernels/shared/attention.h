/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention over 8-bit queries, keys and values, head by head and query by query: what the operator says, with every
 * logit computed once. Loops run along rows that lie side by side, so that compilers make vectors of them; sums and
 * roundings are those of the plain loops, bit for bit. */
#ifndef TVM_PULP_ATTENTION_H
#define TVM_PULP_ATTENTION_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

/* Where elements of a tensor lie: head, position and place within a row, the last side by side. */
struct tvm_pulp_heads {
  int32_t offset, head_stride, stride, zero_point, is_unsigned;
};

struct tvm_pulp_attention {
  int32_t heads, group, queries, keys, size; /* `group` heads of queries share one of keys and values */
  struct tvm_pulp_heads q, k, v, y;
  float logit_scale, gain, value_scale;
  int32_t logit_low, logit_high, probability_high, low, high;
  int32_t mask_heads, mask_queries; /* 0: the mask is the same for all of them */
};

/* Memory to work in: rows of keys and of a head's size are filled up to eights. */
struct tvm_pulp_attention_space {
  int16_t *query, *keys, *values, *probability;
  int32_t *logits, *sums;
};

enum { TVM_PULP_FILLED = 8 };

TVM_PULP_INLINE int32_t tvm_pulp_filled(int32_t count) { return (count + TVM_PULP_FILLED - 1) & -TVM_PULP_FILLED; }

/* Nearest integer from `low` to `high`, ties to even: within 2^22 the last bit of the sum counts ones. */
TVM_PULP_INLINE int32_t tvm_pulp_round_limited(float x, int32_t low, int32_t high) {
  const float above = x < (float)low ? (float)low : x, limited = above > (float)high ? (float)high : above;
  union {
    float real;
    int32_t bits;
  } sum = {limited + 12582912.0f};
  return sum.bits - 0x4b400000;
}

/* An element, by a table where there is one, less the zero point. */
TVM_PULP_INLINE int16_t tvm_pulp_element(const struct tvm_pulp_heads *t, const void *x, const void *table, int32_t at) {
  const int32_t is_unsigned = t->is_unsigned & 1, looked_up_unsigned = t->is_unsigned & 2;
  int32_t value = is_unsigned ? ((const uint8_t *)x)[at] : ((const int8_t *)x)[at];
  if (table != 0) {
    const int32_t place = value + (is_unsigned ? 0 : 128);
    value = looked_up_unsigned ? ((const uint8_t *)table)[place] : ((const int8_t *)table)[place];
  }
  return (int16_t)(value - t->zero_point);
}

/* sums[columns] of `rows` rows of a matrix, each times its factor; columns are a multiple of eight. */
TVM_PULP_INLINE void tvm_pulp_mix(int32_t *restrict sums, const int16_t *restrict factor,
                                  const int16_t *restrict matrix, int32_t rows, int32_t columns) {
  int32_t row = 0;
  for (int32_t c = 0; c < columns; c++) sums[c] = 0;
  for (; row + 4 <= rows; row += 4, matrix += 4 * columns) {
    const int16_t a = factor[row], b = factor[row + 1], c = factor[row + 2], d = factor[row + 3];
    for (int32_t i = 0; i < columns; i++)
      sums[i] += a * matrix[i] + b * matrix[columns + i] + c * matrix[2 * columns + i] + d * matrix[3 * columns + i];
  }
  for (; row < rows; row++, matrix += columns) {
    for (int32_t i = 0; i < columns; i++) sums[i] += factor[row] * matrix[i];
  }
}

/* Probabilities of a query's keys from its products with them. */
TVM_PULP_INLINE void tvm_pulp_weigh(const struct tvm_pulp_attention *a, const uint8_t *mask, const uint8_t *table,
                                    const int32_t *exponential, const struct tvm_pulp_attention_space *space) {
  const int32_t keys = a->keys, filled = tvm_pulp_filled(keys), classes = a->logit_high - a->logit_low + 1;
  int32_t *restrict logits = space->logits, best = 0, total = 0;
  int16_t *restrict probability = space->probability;
  for (int32_t i = 0; i < filled; i++)
    logits[i] = tvm_pulp_round_limited((float)logits[i] * a->logit_scale, a->logit_low, a->logit_high) - a->logit_low;
  for (int32_t i = 0; i < keys; i++) {
    logits[i] = table[(mask != 0 ? mask[i] * classes : 0) + logits[i]];
    best = logits[i] > best ? logits[i] : best;
  }
  for (int32_t i = 0; i < keys; i++) {
    logits[i] = exponential[best - logits[i]];
    total += logits[i];
  }
  const float factor = a->gain / (float)total;
  for (int32_t i = 0; i < filled; i++)
    probability[i] = (int16_t)tvm_pulp_round_limited((float)logits[i] * factor, 0, a->probability_high);
}

TVM_PULP_INLINE void tvm_pulp_attend(const struct tvm_pulp_attention *a, const void *q, const void *k, const void *v,
                                     const void *q_table, const void *k_table, const uint8_t *mask,
                                     const uint8_t *table, const int32_t *exponential, int8_t *y,
                                     const struct tvm_pulp_attention_space *space) {
  const int32_t size = a->size, columns = tvm_pulp_filled(size), filled = tvm_pulp_filled(a->keys);
  for (int32_t i = a->keys; i < filled; i++) {
    for (int32_t d = 0; d < size; d++) space->keys[d * filled + i] = 0;
  }
  for (int32_t i = size; i < columns; i++) {
    for (int32_t key = 0; key < a->keys; key++) space->values[key * columns + i] = 0;
  }
  for (int32_t head = 0; head < a->heads; head++) {
    const int32_t shared = head / a->group;
    for (int32_t key = 0; key < a->keys && head % a->group == 0; key++) {
      const int32_t at_k = a->k.offset + shared * a->k.head_stride + key * a->k.stride;
      const int32_t at_v = a->v.offset + shared * a->v.head_stride + key * a->v.stride;
      for (int32_t d = 0; d < size; d++) {
        space->keys[d * filled + key] = tvm_pulp_element(&a->k, k, k_table, at_k + d);
        space->values[key * columns + d] = tvm_pulp_element(&a->v, v, 0, at_v + d);
      }
    }
    for (int32_t query = 0; query < a->queries; query++) {
      const int32_t at_q = a->q.offset + head * a->q.head_stride + query * a->q.stride;
      int8_t *to = y + a->y.offset + head * a->y.head_stride + query * a->y.stride;
      for (int32_t d = 0; d < size; d++) space->query[d] = tvm_pulp_element(&a->q, q, q_table, at_q + d);
      tvm_pulp_mix(space->logits, space->query, space->keys, size, filled);
      const int32_t row = head * a->mask_heads + query * a->mask_queries;
      tvm_pulp_weigh(a, mask == 0 ? 0 : mask + row * a->keys, table, exponential, space);
      tvm_pulp_mix(space->sums, space->probability, space->values, a->keys, columns);
      for (int32_t d = 0; d < size; d++) {
        const float value = (float)space->sums[d] * a->value_scale;
        to[d] = (int8_t)(tvm_pulp_round_limited(value, a->low, a->high) + a->y.zero_point);
      }
    }
  }
}

#endif /* TVM_PULP_ATTENTION_H */
