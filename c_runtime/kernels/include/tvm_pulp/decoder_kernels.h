/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments of the kernels that language models add; kernels.h has the rules. */
#ifndef TVM_PULP_DECODER_KERNELS_H
#define TVM_PULP_DECODER_KERNELS_H

#include <stdint.h>

/* Rotary positions on neighbouring pairs: x and y are [positions][heads * size], rotation is [positions][size] with
 * cosine and sine of every pair, times 2^14; results are rounded half up and clipped to int8. */
struct tvm_pulp_rotary_args {
  const int8_t *x;
  const int16_t *rotation; /* word aligned */
  int8_t *y;
  uint32_t positions, heads;
  uint32_t size; /* of a head: even */
};

/* Attention of new rows over a cache and themselves: query `first` + i sees `length` rows of the past and the new rows
 * up to its own. Heads [group * h, group * (h + 1)) share keys and values h.
 *
 *   logit = (q . k * mul + 2^(shift - 1)) >> shift,  e = exponential[min(largest logit - logit, 255)]
 *   y = sum of e * v / sum of e, rounded half up */
struct tvm_pulp_past_attention_args {
  const int8_t *q; /* all tensors word aligned, all strides multiples of 4 */
  const int8_t *k, *v, *past_k, *past_v;
  const int32_t *length;
  const uint8_t *exponential; /* 256 entries, the first is 255 */
  int8_t *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= 6 * keys + 48, where keys are those of the longest query */
  uint32_t scratch_stride;
  uint32_t queries;
  uint32_t first; /* row of the first query among the new rows */
  uint32_t heads; /* of queries */
  uint32_t group;
  uint32_t size; /* of a head: a multiple of 4, at most 64 */
  uint32_t q_stride;    /* also of y */
  uint32_t k_stride;    /* also of v */
  uint32_t past_stride; /* of keys */
  uint32_t value_stride; /* of past_v: from a row to the next, or from four rows to the next four */
  uint32_t by_element;  /* past_v holds four rows of an element in a word */
  int32_t mul;          /* |q . k * mul| stays below 2^30 */
  int32_t shift;        /* at least 1 */
};

/* The same attention of one new row, in three parts, so that each can run before the next operand is there. First what
 * needs the query only: logits of `length` rows of the past, zeros up to `capacity`, then the largest logit, or -2^30. */
struct tvm_pulp_past_scores_args {
  const int8_t *q; /* all tensors word aligned, all strides multiples of 4 */
  const int8_t *past_k;
  const int32_t *length;
  int32_t *y; /* [heads][capacity + 1] */
  uint32_t heads, group;
  uint32_t size; /* of a head: a multiple of 4, at most 64 */
  uint32_t past_stride;
  uint32_t capacity;
  int32_t mul, shift;
};

/* Then what needs the new key: sums of e * v over the past, e of the new row, the sum of all e. past_mix_by_element
 * finds four rows of an element in a word of past_v. */
struct tvm_pulp_past_mix_args {
  const int8_t *q; /* all tensors word aligned, all strides multiples of 4 */
  const int8_t *k;
  const int32_t *scores; /* as above */
  const int8_t *past_v;
  const int32_t *length;
  const uint8_t *exponential; /* 256 entries, the first is 255 */
  int32_t *y;                 /* [heads][size + 2] */
  uint8_t *scratch;           /* word aligned; scratch_stride >= 2 * capacity + 4 */
  uint32_t scratch_stride;
  uint32_t heads, group, size;
  uint32_t value_stride; /* from a row to the next; past_mix_by_element: from four rows to the next four */
  uint32_t capacity;
  int32_t mul, shift;
};

/* New rows of values behind those of a cache that holds four rows of an element in a word: the fours that they touch,
 * the first of which begins as `group` does. */
struct tvm_pulp_value_groups_args {
  const int8_t *v;     /* word aligned [rows][columns] */
  const int8_t *group; /* word aligned [columns][4]: the last four rows of the cache, `length` % 4 of them rows */
  const int32_t *length;
  int8_t *y; /* word aligned [(rows + 6) / 4][columns][4], zeros behind the last row */
  uint32_t rows;
  uint32_t columns; /* a multiple of 4 */
};

/* Last what needs the new value: the mean. */
struct tvm_pulp_past_mean_args {
  const int32_t *mix; /* as above */
  const int8_t *v;
  int8_t *y; /* [heads][size] */
  uint32_t heads, group, size;
};

/* y = bias + scale * (weight * x), of the inputs that an engine leaves out of a product of one row: its bias for the
 * others. Sums wrap around as the engine's do. */
struct tvm_pulp_bias_of_rest_args {
  const int8_t *x;      /* word aligned is faster */
  const int8_t *weight; /* word aligned [depth / 4][columns][4] */
  const void *scale;    /* one per column */
  const int32_t *bias;
  int32_t *y;
  uint32_t columns;
  uint32_t depth; /* a multiple of 4 */
  uint32_t x_type, scale_type; /* int8 or uint8; uint8 or int32 */
};

#endif /* TVM_PULP_DECODER_KERNELS_H */
