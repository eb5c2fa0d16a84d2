/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention. Every core has whole queries of a head; four keys, then four columns of values, are read at a time. */
#include "tvm_pulp/plain/attention.h"
#include "tvm_pulp/tiles.h"

enum { FOUR = 4 };

/* Products of a query with four keys. */
static void multiply(const int8_t *q, const int8_t *const *keys, uint32_t words, int32_t *sums) {
  const int32_t *x = (const int32_t *)(const void *)q, *const end = x + words;
  const int32_t *k0 = (const int32_t *)(const void *)keys[0], *k1 = (const int32_t *)(const void *)keys[1];
  const int32_t *k2 = (const int32_t *)(const void *)keys[2], *k3 = (const int32_t *)(const void *)keys[3];
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  while (x != end) {
    const int32_t v = *x++, a = *k0++, b = *k1++, c = *k2++, d = *k3++;
    s0 = tvm_pulp_xp_sdotsp4(s0, v, a), s1 = tvm_pulp_xp_sdotsp4(s1, v, b);
    s2 = tvm_pulp_xp_sdotsp4(s2, v, c), s3 = tvm_pulp_xp_sdotsp4(s3, v, d);
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

/* Logits of a query; returns the largest. */
static int32_t find_logits(const struct tvm_pulp_attention_args *args, const int8_t *q, const int8_t *k,
                           const int8_t *mask, int16_t *logits) {
  int32_t highest = INT8_MIN, sums[FOUR];
  for (uint32_t key = 0; key < args->keys; key += FOUR) {
    const int8_t *keys[FOUR];
    for (uint32_t i = 0; i < FOUR; i++) keys[i] = k + (key + i < args->keys ? key + i : key) * args->k_stride;
    multiply(q, keys, args->size / FOUR, sums);
    for (uint32_t i = 0; i < FOUR && key + i < args->keys; i++) {
      int32_t logit = tvm_pulp_requantize_any(&args->logit_requant, sums[i], 0);
      if (args->table) logit = args->table[logit - args->logit_requant.low] - 128;
      if (mask) logit = tvm_pulp_clip(logit + mask[key + i], -128, 127);
      logits[key + i] = (int16_t)logit;
      highest = logit > highest ? logit : highest;
    }
  }
  return highest;
}

/* Logits become weights. */
static void find_weights(const struct tvm_pulp_attention_args *args, int16_t *row, int32_t highest) {
  uint32_t total = 0;
  for (uint32_t key = 0; key < args->keys; key++) total += tvm_pulp_plain_exponential(args, highest - row[key]);
  total /= args->levels - 1u;
  for (uint32_t key = 0; key < args->keys; key++) {
    const uint32_t weight = tvm_pulp_plain_exponential(args, highest - row[key]) / total;
    row[key] = (int16_t)(args->probability ? args->probability[weight] : (int32_t)weight);
  }
}

/* Values by their weights, four columns from v on. */
static void add_values(const int16_t *weights, const int8_t *v, uint32_t stride, uint32_t keys, int32_t *sums) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (const int16_t *const end = weights + keys; weights != end; v += stride) {
    const int32_t weight = *weights++, four = *(const int32_t *)(const void *)v;
    s0 = tvm_pulp_xp_mac(s0, weight, (int8_t)four), s1 = tvm_pulp_xp_mac(s1, weight, (int8_t)(four >> 8));
    s2 = tvm_pulp_xp_mac(s2, weight, (int8_t)(four >> 16)), s3 = tvm_pulp_xp_mac(s3, weight, four >> 24);
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

static int in_words(const struct tvm_pulp_attention_args *a) {
  const uintptr_t places = (uintptr_t)a->q | (uintptr_t)a->k | (uintptr_t)a->v;
  const uint32_t strides = a->q_head_stride | a->q_stride | a->k_head_stride | a->k_stride | a->v_head_stride | a->v_stride;
  return ((places | strides) & 3u) == 0u;
}

TVM_PULP_KERNEL(attention) {
  /* A copy in the own tile, as other kernels make it, and of the numbers that all cores would read again and again. */
  struct tvm_pulp_attention_args own = *args;
  const int32_t logit_mul = *own.logit_requant.mul, logit_add = *own.logit_requant.add;
  const int32_t mul = *own.requant.mul, add = *own.requant.add;
  own.logit_requant.mul = &logit_mul, own.logit_requant.add = &logit_add;
  own.requant.mul = &mul, own.requant.add = &add;
  if (!in_words(&own)) {
    tvm_pulp_plain_attention(&own, core, cores);
    return;
  }
  const struct tvm_pulp_range range = tvm_pulp_share(own.heads * own.queries, core, cores);
  int16_t *const row = (int16_t *)(void *)(own.scratch + core * own.scratch_stride);
  for (uint32_t at = range.begin; at < range.end; at++) {
    const uint32_t head = at / own.queries, query = at - head * own.queries;
    const int8_t *const v = own.v + head * own.v_head_stride;
    void *const y = (uint8_t *)own.y + head * own.y_head_stride + query * own.y_stride;
    const int32_t highest = find_logits(&own, own.q + head * own.q_head_stride + query * own.q_stride,
                                        own.k + head * own.k_head_stride,
                                        own.mask ? own.mask + query * own.mask_stride : 0, row);
    find_weights(&own, row, highest);
    for (uint32_t column = 0; column < own.size; column += FOUR) {
      int32_t sums[FOUR];
      add_values(row, v + column, own.v_stride, own.keys, sums);
      for (uint32_t i = 0; i < FOUR; i++) tvm_pulp_finish(&own.requant, y, column + i, sums[i], 0);
    }
  }
}
