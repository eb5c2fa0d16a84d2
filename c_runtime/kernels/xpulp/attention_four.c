/* SPDX-License-Identifier: Apache-2.0
 *
 * A query goes through loops over the keys: logits (bytes, 128 added), exponentials and their sum, weights and their
 * product with the values. Few queries of a head take the values where they are, one query after the other, in as
 * little code as possible: it is cold. Many queries take packed values, two queries at a time in every loop, and stay
 * in a loop for several of them, so that its instructions stay in the private cache.
 *
 * A weight is floor(L * e / S) with L = levels - 1 and S the sum of the exponentials e. The factor is
 * m = floor(2^39 * L / S) + 1, so e * m / 2^39 exceeds L * e / S by at most e / 2^39, and the next whole number is at
 * least one unit of the unscaled table, 2^s / S, away: exact while e * S < 2^(39 + s). With 2^15 <= e[255] <= S, m has
 * 32 bits, and two products of 16 bits make e * m >> 39. */
#include "attention_four.h"

#include "attention_few.h"
#include "attention_four_code.h"
#include "pack_columns.h"
#include "tile.h"
#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

enum { BATCH = 16 };

struct work {
  const struct tvm_pulp_attention_args *args;
  uint32_t padded;           /* keys rounded up to 4 */
  int32_t lift;              /* not 0: a mask value is positive */
  int32_t *values;           /* of one head, packed */
  const int8_t *probability; /* a copy of this core: most weights are 0, and all cores would wait for one bank */
  uint32_t zero_counts;      /* a weight of 0 becomes something else */
  uint8_t *logits;           /* of the queries, plus 128; `padded` apart */
  uint16_t *exponentials;    /* of the queries, `padded` apart */
};

/* The compiler must not know that a loop runs once or twice: it would write it out twice, and the second copy is
 * cold. */
#define ONE_COPY(rest) __asm__("" : "+r"(rest))

/* Groups of keys, at least one, before those that the masks of two queries hide with -128. */
static uint32_t groups_to_see(const struct tvm_pulp_attention_args *args, const int8_t *mask) {
  const int32_t hidden = (int32_t)0x80808080u;
  uint32_t n = args->keys >> 2;
  const int8_t *at = mask + args->keys - 4u;
  if (args->skips_from > 255u) return n;
  if ((args->keys & 3u) != 0u) {
    if (tvm_pulp_xp_word(at) != hidden || tvm_pulp_xp_word(at + args->mask_stride) != hidden) return n;
    at = mask + 4u * n - 4u;
  }
  while (n > 1u && tvm_pulp_xp_word(at) == hidden && tvm_pulp_xp_word(at + args->mask_stride) == hidden) {
    --n;
    at -= 4;
  }
  return n;
}

/* First the groups to see; the hidden ones follow unless they get no weight. The last group of keys reaches back where
 * they are not a multiple of four: once more around with one group. */
#define OVER_ALL_KEYS(LOOP)                                                                               \
  for (;;) {                                                                                              \
    LOOP;                                                                                                 \
    if (hidden != 0u) {                                                                                   \
      if (tvm_pulp_largest_byte(best) >= args->skips_from &&                                              \
          tvm_pulp_largest_byte(best_next) >= args->skips_from) {                                         \
        groups -= hidden;                                                                                 \
        break;                                                                                            \
      }                                                                                                   \
      n = hidden;                                                                                         \
      hidden = 0;                                                                                         \
    } else {                                                                                              \
      groups = c->padded >> 2;                                                                            \
      if (rest == 0u) break;                                                                              \
      k -= (4u - rest) * stride;                                                                          \
      mask -= 4u - rest;                                                                                  \
      y -= 4u - rest;                                                                                     \
      n = 1;                                                                                              \
      rest = 0;                                                                                           \
    }                                                                                                     \
    ONE_COPY(rest);                                                                                       \
    ONE_COPY(hidden);                                                                                     \
  }

/* Logits of two queries and the largest of each lane; returns the groups of keys that have a weight. */
static uint32_t logits_of_two(struct work *c, const int8_t *q, const int8_t *k, const int8_t *mask, uint8_t *y,
                              int32_t *most) {
  const struct tvm_pulp_attention_args *args = c->args;
  const struct tvm_pulp_requant *r = &args->logit_requant;
  uint32_t groups = args->keys >> 2, n = groups, rest = args->keys & 3u, stride = args->k_stride, hidden = 0;
  uint32_t pad = c->padded, mask_stride = args->mask_stride;
  int32_t mul = r->mul[0], add = r->add[0], shift = r->shift, lift = c->lift, best = 0, best_next = 0;
  int32_t word = tvm_pulp_xp_word(q), word_next = tvm_pulp_xp_word(q + args->q_stride);
  int32_t v0, v1, v2, v3, k0, k1, k2, k3;
  const uint8_t *table = args->table - r->low;
  if (rest != 0u) {
    /* What fills up the last word must be some value. */
    *(int32_t *)(void *)(y + pad - 4u) = 0;
    *(int32_t *)(void *)(y + 2u * pad - 4u) = 0;
  }
  if (mask) {
    n = groups_to_see(args, mask);
    hidden = groups - n;
    if (args->table_covers) {
      OVER_ALL_KEYS(LOGITS_OF_TWO("", MASK_FIRST, MASK_SECOND, MASK_APPLY));
    } else {
      OVER_ALL_KEYS(LOGITS_OF_TWO(EACH(CLIPPED), MASK_FIRST, MASK_SECOND, MASK_APPLY));
    }
  } else if (args->table_covers) {
    OVER_ALL_KEYS(LOGITS_OF_TWO("", "", "", ""));
  } else {
    OVER_ALL_KEYS(LOGITS_OF_TWO(EACH(CLIPPED), "", "", ""));
  }
  c->lift = lift;
  most[0] = best;
  most[1] = best_next;
  return groups;
}

/* Exponentials of the logits at `x`, `n` groups, and the factor that makes them weights. Returns the groups up to the
 * last that may have a weight: e * (levels - 1) >= sum needs e > sum / 256. */
static inline uint32_t exponentials(const struct work *c, const uint8_t *x, uint32_t n, int32_t best, uint16_t *e,
                                    uint32_t *m) {
  const struct tvm_pulp_attention_args *args = c->args;
  uint32_t sum = 0, v0, v1, v2, v3, w;
  const uint16_t *table = args->small_exponential + 255 - tvm_pulp_largest_byte(best), *end;
  EXPONENTIALS;
  end = e;
  /* What fills up the last word does not count. */
  if (4u * n > args->keys) {
    for (uint32_t over = 4u * n - args->keys; over != 0u; --over) sum -= *--end;
  }
  *m = tvm_pulp_weight_factor(args->levels - 1u, sum);
  if (c->zero_counts) return n;
  for (uint32_t bound = (sum >> 8) << 16 | sum >> 8; n > 2u; n -= 2u, e -= 8) {
    ANY_REACHES;
    if (v0 != 0u) break;
  }
  return n;
}

static void product_of_two(const struct work *c, const uint16_t *e, uint32_t n, const uint32_t *factors, uint8_t *y) {
  const struct tvm_pulp_attention_args *args = c->args;
  uint32_t m = factors[0], m_next = factors[1], t0, t1, t2, t3, x0, x1, w;
  uint32_t low = LOWER_HALVES(m), high = UPPER_HALVES(m);
  uint32_t low_next = LOWER_HALVES(m_next), high_next = UPPER_HALVES(m_next);
  int32_t a0, a1, a2, a3, b0, b1, b2, b3;
  const int8_t *probability = c->probability;
  const int32_t *v = c->values;
  const uint16_t *e_next = e + c->padded;
  if (probability) {
    PRODUCT_OF_TWO(LOOKUP, XP_SDOTSP);
  } else {
    PRODUCT_OF_TWO("", XP_SDOTUSP);
  }
  tvm_pulp_attention_finish(&args->requant, y, a0, a1, a2, a3);
  tvm_pulp_attention_finish(&args->requant, y + args->y_stride, b0, b1, b2, b3);
}

static __attribute__((noinline)) void pack_values(const struct work *c, uint32_t head) {
  const struct tvm_pulp_attention_args *args = c->args;
  tvm_pulp_pack_columns(c->values, args->v + head * args->v_head_stride, args->keys, args->v_stride, 0);
}

/* An even number of queries of one head, from `query` on. */
static __attribute__((noinline)) void pairs_of_queries(struct work *c, uint32_t head, uint32_t query, uint32_t count) {
  const struct tvm_pulp_attention_args *args = c->args;
  const int8_t *mask = args->mask ? args->mask + query * args->mask_stride : 0;
  const int8_t *q = args->q + head * args->q_head_stride + query * args->q_stride;
  const int8_t *k = args->k + head * args->k_head_stride;
  uint8_t *y = (uint8_t *)args->y + head * args->y_head_stride + query * args->y_stride;
  int32_t best[BATCH];
  uint32_t factors[BATCH], groups[BATCH];
  for (uint32_t i = 0; i < count; i += 2u) {
    groups[i] = groups[i + 1u] = logits_of_two(c, q, k, mask, c->logits + i * c->padded, best + i);
    q += 2u * args->q_stride;
    if (mask) mask += 2u * args->mask_stride;
  }
  /* The word that EXPONENTIALS reads behind the last row: of a further row, or of exponentials that are still to come. */
  *(int32_t *)(void *)(c->logits + count * c->padded) = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t row = i * c->padded;
    /* And behind a row whose last keys are hidden. */
    if (4u * groups[i] < c->padded) *(int32_t *)(void *)(c->logits + row + 4u * groups[i]) = 0;
    groups[i] = exponentials(c, c->logits + row, groups[i], best[i], c->exponentials + row, factors + i);
  }
  for (uint32_t i = 0; i < count; i += 2u) {
    uint32_t n = groups[i] > groups[i + 1u] ? groups[i] : groups[i + 1u];
    product_of_two(c, c->exponentials + i * c->padded, n, factors + i, y);
    y += 2u * args->y_stride;
  }
}

/* More than two queries a head. */
static __attribute__((noinline)) int32_t many_queries(const struct tvm_pulp_attention_args *args, uint32_t begin,
                                                      uint32_t end, uint8_t *scratch) {
  uint32_t queries = args->queries, head = begin / queries, query = begin - head * queries, packed = args->heads;
  uint32_t batch = 1;
  struct work c;
  c.args = args;
  c.padded = (args->keys + 3u) & ~3u;
  c.lift = 0;
  uint32_t room = args->scratch_stride;
  c.probability = args->probability;
  c.zero_counts = c.probability && c.probability[0] != 0;
  if (c.probability && room >= 10u * c.padded + 256u) {
    room -= 256u;
    tvm_pulp_copy_words(scratch + room, args->probability, 64);
    c.probability = (const int8_t *)scratch + room;
  }
  while (batch < BATCH && (4u + 3u * (batch + 1u)) * c.padded <= room) ++batch;
  c.values = (int32_t *)(void *)scratch;
  c.logits = scratch + 4u * c.padded;
  c.exponentials = (uint16_t *)(void *)(c.logits + batch * c.padded);
  while (begin < end && !c.lift) {
    uint32_t count = queries - query < end - begin ? queries - query : end - begin;
    if (count > batch) count = batch;
    if (count > 1u) {
      count &= ~1u;
      if (packed != head) pack_values(&c, head);
      packed = head;
      pairs_of_queries(&c, head, query, count);
    } else {
      c.lift = tvm_pulp_attention_few(args, begin, begin + 1u, scratch);
      packed = args->heads;
    }
    begin += count;
    query += count;
    if (query == queries) {
      query = 0;
      ++head;
    }
  }
  return c.lift;
}

TVM_PULP_CLOSE int32_t tvm_pulp_attention_four(const struct tvm_pulp_attention_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->heads * args->queries, core, cores);
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  if (args->queries > 2u) return many_queries(args, range.begin, range.end, scratch);
  return tvm_pulp_attention_few(args, range.begin, range.end, scratch);
}
