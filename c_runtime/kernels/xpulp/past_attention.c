/* SPDX-License-Identifier: Apache-2.0
 *
 * One query of one head at a time: logits of all keys, exponentials as bytes, then four keys by eight elements of the
 * values at a time. Heads of 32 elements keep the query in registers. */
#include "reciprocal.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

enum { LARGEST_SIZE = 64, UNROLLED = 32 };

struct keys {
  const int8_t *rows;
  uint32_t stride;
  uint32_t count;
};

static inline int32_t logit_of(int32_t acc, int32_t mul, int32_t half, int32_t shift) {
  return (acc * mul + half) >> shift;
}

/* Cores work on different heads of rows that lie a multiple of all banks apart: each begins with another pair of words,
 * `turn`, so that they meet in no bank. */
static inline int32_t logits_of_32(const int32_t *query, uint32_t turn, struct keys k, int32_t mul, int32_t shift,
                                   int32_t *logits, int32_t largest) {
  const int32_t *const q = query;
  const int32_t a0 = q[2u * turn], a1 = q[2u * turn + 1u], b0 = q[2u * (turn ^ 1u)], b1 = q[2u * (turn ^ 1u) + 1u];
  const int32_t c0 = q[2u * (turn ^ 2u)], c1 = q[2u * (turn ^ 2u) + 1u], d0 = q[2u * (turn ^ 3u)];
  const int32_t d1 = q[2u * (turn ^ 3u) + 1u], half = 1 << (shift - 1);
  const int8_t *a = k.rows + 8u * turn, *b = k.rows + 8u * (turn ^ 1u), *c = k.rows + 8u * (turn ^ 2u);
  const int8_t *d = k.rows + 8u * (turn ^ 3u);
  for (const int32_t *end = logits + k.count; logits != end; ++logits) {
    const int32_t w0 = ((const int32_t *)(const void *)a)[0], w1 = ((const int32_t *)(const void *)a)[1];
    const int32_t w2 = ((const int32_t *)(const void *)b)[0], w3 = ((const int32_t *)(const void *)b)[1];
    a += k.stride;
    b += k.stride;
    int32_t x = tvm_pulp_xp_dotsp4(a0, w0), y = tvm_pulp_xp_dotsp4(a1, w1);
    const int32_t w4 = ((const int32_t *)(const void *)c)[0], w5 = ((const int32_t *)(const void *)c)[1];
    const int32_t w6 = ((const int32_t *)(const void *)d)[0], w7 = ((const int32_t *)(const void *)d)[1];
    c += k.stride;
    d += k.stride;
    x = tvm_pulp_xp_sdotsp4(x, b0, w2);
    y = tvm_pulp_xp_sdotsp4(y, b1, w3);
    x = tvm_pulp_xp_sdotsp4(x, c0, w4);
    y = tvm_pulp_xp_sdotsp4(y, c1, w5);
    x = tvm_pulp_xp_sdotsp4(x, d0, w6);
    y = tvm_pulp_xp_sdotsp4(y, d1, w7);
    const int32_t logit = logit_of(x + y, mul, half, shift);
    *logits = logit;
    largest = tvm_pulp_xp_max(largest, logit);
  }
  return largest;
}

static __attribute__((noinline)) int32_t logits_of_any(const int32_t *query, uint32_t words, struct keys k, int32_t mul,
                                                       int32_t shift, int32_t *logits, int32_t largest) {
  for (uint32_t key = 0; key < k.count; ++key, k.rows += k.stride) {
    int32_t acc = 0;
    for (uint32_t i = 0; i < words; ++i) acc = tvm_pulp_xp_sdotsp4(acc, query[i], tvm_pulp_xp_word(k.rows + 4u * i));
    logits[key] = logit_of(acc, mul, 1 << (shift - 1), shift);
    largest = tvm_pulp_xp_max(largest, logits[key]);
  }
  return largest;
}

/* Eight elements of a head: adds e * v of all keys. */
static inline void add_values(struct keys v, const uint8_t *e, int32_t acc[8]) {
  int32_t s0 = acc[0], s1 = acc[1], s2 = acc[2], s3 = acc[3], s4 = acc[4], s5 = acc[5], s6 = acc[6], s7 = acc[7];
  const int8_t *row = v.rows;
  for (const uint8_t *end = e + (v.count & ~3u); e != end; e += 4) {
    const int32_t weights = *(const int32_t *)(const void *)e;
    int32_t w[4], x[4];
    for (uint32_t i = 0; i < 4u; ++i, row += v.stride) {
      w[i] = ((const int32_t *)(const void *)row)[0];
      x[i] = ((const int32_t *)(const void *)row)[1];
    }
    tvm_pulp_xp_transpose4(w);
    s0 = tvm_pulp_xp_sdotusp4(s0, weights, w[0]);
    s1 = tvm_pulp_xp_sdotusp4(s1, weights, w[1]);
    s2 = tvm_pulp_xp_sdotusp4(s2, weights, w[2]);
    s3 = tvm_pulp_xp_sdotusp4(s3, weights, w[3]);
    tvm_pulp_xp_transpose4(x);
    s4 = tvm_pulp_xp_sdotusp4(s4, weights, x[0]);
    s5 = tvm_pulp_xp_sdotusp4(s5, weights, x[1]);
    s6 = tvm_pulp_xp_sdotusp4(s6, weights, x[2]);
    s7 = tvm_pulp_xp_sdotusp4(s7, weights, x[3]);
  }
  for (uint32_t left = v.count & 3u; left != 0u; --left, row += v.stride) {
    const int32_t weight = *e++;
    s0 = tvm_pulp_xp_mac(s0, weight, row[0]);
    s1 = tvm_pulp_xp_mac(s1, weight, row[1]);
    s2 = tvm_pulp_xp_mac(s2, weight, row[2]);
    s3 = tvm_pulp_xp_mac(s3, weight, row[3]);
    s4 = tvm_pulp_xp_mac(s4, weight, row[4]);
    s5 = tvm_pulp_xp_mac(s5, weight, row[5]);
    s6 = tvm_pulp_xp_mac(s6, weight, row[6]);
    s7 = tvm_pulp_xp_mac(s7, weight, row[7]);
  }
  acc[0] = s0;
  acc[1] = s1;
  acc[2] = s2;
  acc[3] = s3;
  acc[4] = s4;
  acc[5] = s5;
  acc[6] = s6;
  acc[7] = s7;
}

/* The same for the last four elements of a head. */
static __attribute__((noinline)) void add_four_values(struct keys v, const uint8_t *e, int32_t acc[8]) {
  for (uint32_t key = 0; key < v.count; ++key, v.rows += v.stride) {
    for (uint32_t i = 0; i < 4u; ++i) acc[i] = tvm_pulp_xp_mac(acc[i], e[key], v.rows[i]);
  }
}

/* Logits become bytes at `e`; returns their sum. */
static inline uint32_t exponentials(const int32_t *logits, uint32_t count, int32_t largest, const uint8_t *table,
                                    uint8_t *e) {
  uint32_t total = 0;
  for (uint32_t key = 0; key < count; ++key) {
    const uint32_t value = table[tvm_pulp_xp_min(largest - logits[key], 255)];
    e[key] = (uint8_t)value;
    total += value;
  }
  return total;
}

static inline void one_query(const struct tvm_pulp_past_attention_args *args, uint32_t query, uint32_t head,
                             uint32_t length, int32_t *logits) {
  const uint32_t column = (args->group == 1u ? head : head / args->group) * args->size, words = args->size >> 2;
  const uint32_t seen = args->first + query + 1u, padded = (length + 3u) & ~3u;
  const struct keys past_k = {args->past_k + column, args->past_stride, length};
  const struct keys new_k = {args->k + column, args->k_stride, seen};
  const struct keys past_v = {args->past_v + column, args->past_stride, length};
  const struct keys new_v = {args->v + column, args->k_stride, seen};
  const int8_t *q = args->q + query * args->q_stride + head * args->size;
  int32_t row[LARGEST_SIZE / 4];
  for (uint32_t i = 0; i < words; ++i) row[i] = tvm_pulp_xp_word(q + 4u * i);
  int32_t largest = -(1 << 30);
  if (args->size == UNROLLED) {
    const uint32_t turn = column >> 6 & 3u;
    largest = logits_of_32(row, turn, past_k, args->mul, args->shift, logits, largest);
    largest = logits_of_32(row, turn, new_k, args->mul, args->shift, logits + length, largest);
  } else {
    largest = logits_of_any(row, words, past_k, args->mul, args->shift, logits, largest);
    largest = logits_of_any(row, words, new_k, args->mul, args->shift, logits + length, largest);
  }
  /* Bytes follow the logits; those of new rows begin at a word. */
  uint8_t *e = (uint8_t *)(logits + length + seen);
  uint32_t total = exponentials(logits, length, largest, args->exponential, e);
  total += exponentials(logits + length, seen, largest, args->exponential, e + padded);
  const struct tvm_pulp_reciprocal inverse = tvm_pulp_short_reciprocal(2u * total);
  int8_t *y = args->y + query * args->q_stride + head * args->size;
  for (uint32_t step = 0; step < args->size; step += 8u) {
    /* Heads whose size is a power of two begin at different places, too. */
    const uint32_t at = args->size == UNROLLED ? (step + (column >> 3)) & 24u : step, left = args->size - at;
    int32_t acc[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    const struct keys past = {past_v.rows + at, past_v.stride, past_v.count};
    const struct keys own = {new_v.rows + at, new_v.stride, new_v.count};
    if (left >= 8u) {
      add_values(past, e, acc);
      add_values(own, e + padded, acc);
    } else {
      add_four_values(past, e, acc);
      add_four_values(own, e + padded, acc);
    }
    for (uint32_t j = 0; j < 8u && j < left; ++j) {
      const uint32_t raised = ((uint32_t)acc[j] + 128u * total) * 2u + total;
      const uint32_t mean = tvm_pulp_high_word(raised + 1u, inverse.multiplier) >> inverse.shift;
      y[at + j] = (int8_t)(mean - 128u);
    }
  }
}

TVM_PULP_KERNEL(past_attention) {
  const uint32_t length = (uint32_t)*args->length;
  struct tvm_pulp_range range = tvm_pulp_share(args->queries * args->heads, core, cores);
  int32_t *logits = (int32_t *)(void *)(args->scratch + core * args->scratch_stride);
  uint32_t query = args->queries == 1u ? 0u : range.begin / args->heads, head = range.begin - query * args->heads;
  /* Where every core has whole queries, each begins with another head. */
  const uint32_t turn = args->queries % cores == 0u ? core % args->heads : 0u;
  for (uint32_t at = range.begin; at < range.end; ++at) {
    const uint32_t turned = head + turn;
    one_query(args, query, turned < args->heads ? turned : turned - args->heads, length, logits);
    if (++head == args->heads) {
      head = 0;
      ++query;
    }
  }
}
