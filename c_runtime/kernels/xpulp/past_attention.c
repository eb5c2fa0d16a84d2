/* SPDX-License-Identifier: Apache-2.0
 *
 * Two queries of one head at a time. Logits of all keys that a query sees, exponentials as bytes, four keys in a word,
 * words of both queries side by side; then four keys by four elements of the values are turned once, unless the cache
 * holds them so, and count for both queries. Keys that are no whole group of four have a word of their own each. */
#include "past_logits.h"
#include "reciprocal.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

enum { TOGETHER = 2 };

/* Rows of values in groups of four, and behind them one by one; or groups with four keys of an element in a word. */
struct rows {
  const int8_t *values;
  uint32_t stride;
  uint32_t groups;
  uint32_t single;
  uint32_t by_element;
};

static inline uint8_t *byte_of(uint32_t *words, uint32_t groups, uint32_t key) {
  uint8_t *first = (uint8_t *)words;
  return key < 4u * groups ? first + 4u * TOGETHER * (key >> 2) + (key & 3u)
                           : first + 4u * TOGETHER * (groups + key - 4u * groups);
}

/* Exponentials of a query's logits; what it does not see of `rows` has no weight. Returns their sum. */
static __attribute__((noinline)) uint32_t exponentials(const int32_t *logits, uint32_t seen, const struct rows *rows,
                                                       int32_t largest, const uint8_t *table, uint32_t *words) {
  uint32_t *to = words, total = 0, n = seen >> 2;
  int32_t x0, x1, x2, x3;
  if (n > rows->groups) n = rows->groups;
  const uint32_t whole = n;
  if (n != 0u) {
    __asm__ volatile(
        XP_BEGIN XP_LOOP("%[n]") XP_LW("%[x0]", 4, "%[l]") XP_LW("%[x1]", 4, "%[l]") XP_LW("%[x2]", 4, "%[l]")
            XP_LW("%[x3]", 4, "%[l]") "sub %[x0],%[b],%[x0]\nsub %[x1],%[b],%[x1]\nsub %[x2],%[b],%[x2]\n"
        "sub %[x3],%[b],%[x3]\n" XP_MIN("%[x0]", "%[x0]", "%[c]") XP_MIN("%[x1]", "%[x1]", "%[c]")
            XP_MIN("%[x2]", "%[x2]", "%[c]") XP_MIN("%[x3]", "%[x3]", "%[c]") XP_LBUX("%[x0]", "%[x0]", "%[t]")
                XP_LBUX("%[x1]", "%[x1]", "%[t]") XP_LBUX("%[x2]", "%[x2]", "%[t]") XP_LBUX("%[x3]", "%[x3]", "%[t]")
                    XP_PACKLO("%[x0]", "%[x1]", "%[x0]") XP_PACKHI("%[x0]", "%[x3]", "%[x2]")
                        XP_SDOTUP("%[s]", "%[x0]", "%[o]") XP_LOOP_END XP_SW("%[x0]", 8, "%[e]") XP_END
        : [l] "+r"(logits), [e] "+r"(to), [s] "+r"(total), XP_FOUR("=&r", x)
        : [n] "r"(n), [b] "r"(largest), [c] "r"(255), [t] "r"(table), [o] "r"(0x01010101)
        : "memory");
  }
  for (uint32_t left = rows->groups + rows->single - whole; left != 0u; --left, to += TOGETHER) *to = 0;
  for (uint32_t key = 4u * whole; key < seen; ++key) {
    const uint32_t e = table[tvm_pulp_xp_min(largest - *logits++, 255)];
    *byte_of(words, rows->groups, key) = (uint8_t)e;
    total += e;
  }
  return total;
}

/* Adds e * v of four elements for two queries; rows of a group lie `inner` apart, a group `outer` behind the last row
 * of the one before. */
#define TURNED                                                                                            \
  XP_PACK_H("t0", "%[v1]", "%[v0]") XP_PACK_H("t1", "%[v3]", "%[v2]")                               \
  XP_SHUFFLE2_H("%[v0]", "%[v1]", "%[upper]") XP_SHUFFLE2_H("%[v2]", "%[v3]", "%[upper]")                 \
  "mv %[v1],t0\nmv %[v3],%[v0]\n" XP_SHUFFLE2_B("%[v1]", "t1", "%[even]")                           \
  XP_SHUFFLE2_B("t0", "t1", "%[odd]") XP_SHUFFLE2_B("%[v3]", "%[v2]", "%[even]")                    \
  XP_SHUFFLE2_B("%[v0]", "%[v2]", "%[odd]")
#define ADD_VALUES                                                                                        \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[v0]", "%[i]", "%[p]") XP_LWR("%[v1]", "%[i]", "%[p]") \
                       XP_LWR("%[v2]", "%[i]", "%[p]") XP_LWR("%[v3]", "%[o]", "%[p]") TURNED             \
                           XP_LW("t1", 4, "%[e]") XP_LW("%[v2]", 4, "%[e]")                            \
                               XP_SDOTUSP("%[a0]", "t1", "%[v1]") XP_SDOTUSP("%[a1]", "t1", "t0") \
                                   XP_SDOTUSP("%[a2]", "t1", "%[v3]") XP_SDOTUSP("%[a3]", "t1", "%[v0]") \
                                       XP_SDOTUSP("%[b0]", "%[v2]", "%[v1]") XP_SDOTUSP("%[b1]", "%[v2]", "t0") \
                                           XP_SDOTUSP("%[b2]", "%[v2]", "%[v3]") XP_LOOP_END              \
                                               XP_SDOTUSP("%[b3]", "%[v2]", "%[v0]") XP_END               \
                   : [p] "+r"(p), [e] "+r"(e), XP_FOUR("+r", a), XP_FOUR("+r", b), XP_FOUR("=&r", v)      \
                   : [n] "r"(n), [i] "r"(inner), [o] "r"(rows->stride), [upper] "r"(0x00030001),          \
                     [even] "r"(0x06040200), [odd] "r"(0x07050301)                                        \
                   : "memory", "t0", "t1") /* gcc allows 30 operands */

#define VALUES(into, at) "lw " into "," #at "(%[p])\n"
#define ADD_WORDS                                                                                                    \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") VALUES("%[v1]", 4) VALUES("%[v2]", 8) VALUES("%[v3]", 12)                \
                       XP_LWR("%[v0]", "%[o]", "%[p]") XP_LW("t0", 4, "%[e]") XP_LW("t1", 4, "%[e]")                 \
                           XP_SDOTUSP("%[a0]", "t0", "%[v0]") XP_SDOTUSP("%[a1]", "t0", "%[v1]")                     \
                               XP_SDOTUSP("%[a2]", "t0", "%[v2]") XP_SDOTUSP("%[a3]", "t0", "%[v3]")                 \
                                   XP_SDOTUSP("%[b0]", "t1", "%[v0]") XP_SDOTUSP("%[b1]", "t1", "%[v1]")             \
                                       XP_SDOTUSP("%[b2]", "t1", "%[v2]") XP_LOOP_END                                \
                                           XP_SDOTUSP("%[b3]", "t1", "%[v3]") XP_END                                 \
                   : [p] "+r"(p), [e] "+r"(e), XP_FOUR("+r", a), XP_FOUR("+r", b), XP_FOUR("=&r", v)                 \
                   : [n] "r"(n), [o] "r"(rows->stride)                                                               \
                   : "memory", "t0", "t1")

/* A mean from its sum; `raised` holds what the sum of the weights adds to twice the sum. */
static inline int32_t mean_of(int32_t sum, uint32_t raised, struct tvm_pulp_reciprocal inverse) {
  return (int32_t)((tvm_pulp_high_word(2u * (uint32_t)sum + raised, inverse.multiplier) >> inverse.shift) - 128u);
}

static inline void put_means(int8_t *y, uint32_t total, struct tvm_pulp_reciprocal inverse, int32_t s0, int32_t s1,
                             int32_t s2, int32_t s3) {
  /* Values above -128 make the numerator positive. */
  const uint32_t raised = 257u * total + 1u;
  int32_t s[4] = {s0, s1, s2, s3};
  for (uint32_t i = 0; i < 4u; ++i) s[i] = mean_of(s[i], raised, inverse);
  tvm_pulp_xp_put_word(y, tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, s[1], s[0]), s[3], s[2]));
}

static inline void add_all_values(const struct rows *all, const uint32_t *words, uint32_t size, const uint32_t *totals,
                                  int8_t *const *results) {
  struct tvm_pulp_reciprocal inverse[TOGETHER];
  for (uint32_t i = 0; i < TOGETHER; ++i) inverse[i] = tvm_pulp_short_reciprocal(2u * totals[i]);
  for (uint32_t at = 0; at < size; at += 4u) {
    int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0, v0, v1, v2, v3;
    const uint32_t *e = words;
    for (const struct rows *rows = all; rows != all + 2; ++rows) {
      const int8_t *p = rows->values + (rows->by_element ? 4u * at : at);
      uint32_t n = rows->groups, inner = rows->stride, single = rows->single;
      if (rows->by_element) {
        if (n != 0u) ADD_WORDS;
        continue;
      }
      for (;;) {
        if (n != 0u) ADD_VALUES;
        if (single == 0u) break;
        n = single;
        inner = single = 0;
        /* One copy of the loop only. */
        __asm__("" : "+r"(n), "+r"(single), "+r"(inner));
      }
    }
    put_means(results[0] + at, totals[0], inverse[0], a0, a1, a2, a3);
    put_means(results[1] + at, totals[1], inverse[1], b0, b1, b2, b3);
  }
}

/* Queries `first` and, unless there is only one left, the next. */
static inline void two_queries(const struct tvm_pulp_past_attention_args *args, uint32_t head, const uint32_t *queries,
                               uint32_t length, int32_t *logits) {
  const uint32_t size = args->size, column = (args->group == 1u ? head : head / args->group) * size;
  const uint32_t new_rows = args->first + queries[1] + 1u;
  const struct rows rows[2] = {
      args->by_element ? (struct rows){args->past_v + 4u * column, args->value_stride, (length + 3u) >> 2, 0, 1}
                       : (struct rows){args->past_v + column, args->value_stride, length >> 2, length & 3u, 0},
      {args->v + column, args->k_stride, new_rows >> 2, new_rows & 3u, 0}};
  /* Words of exponentials follow the logits. */
  uint32_t *words = (uint32_t *)(void *)(logits + length + new_rows);
  uint32_t *new_words = words + TOGETHER * (rows[0].groups + rows[0].single), totals[TOGETHER];
  int8_t *results[TOGETHER];
  for (uint32_t i = 0; i < TOGETHER; ++i) {
    const uint32_t seen = args->first + queries[i] + 1u, offset = queries[i] * args->q_stride + head * size;
    const struct tvm_pulp_keys past = {args->past_k + column, args->past_stride, length};
    const struct tvm_pulp_keys own = {args->k + column, args->k_stride, seen};
    const int8_t *q = args->q + offset;
    int32_t largest = -(1 << 30);
    for (uint32_t part = 0; part < 2u; ++part) {
      const struct tvm_pulp_keys keys = part == 0u ? past : own;
      int32_t *to = part == 0u ? logits : logits + length;
      largest = size == 32u ? tvm_pulp_logits_of_32(q, keys, args->mul, args->shift, to, largest)
                            : tvm_pulp_logits_of_any(q, size >> 2, keys, args->mul, args->shift, to, largest);
    }
    totals[i] = exponentials(logits, length, &rows[0], largest, args->exponential, words + i);
    totals[i] += exponentials(logits + length, seen, &rows[1], largest, args->exponential, new_words + i);
    results[i] = args->y + offset;
  }
  add_all_values(rows, words, size, totals, results);
}

TVM_PULP_KERNEL(past_attention) {
  const uint32_t length = (uint32_t)*args->length, queries = args->queries;
  const uint32_t pairs = (queries + TOGETHER - 1u) / TOGETHER;
  struct tvm_pulp_range range = tvm_pulp_share(pairs * args->heads, core, cores);
  int32_t *logits = (int32_t *)(void *)(args->scratch + core * args->scratch_stride);
  uint32_t head = range.begin / pairs, pair = range.begin - head * pairs;
  for (uint32_t at = range.begin; at < range.end; ++at) {
    const uint32_t first = TOGETHER * pair, next = first + 1u < queries ? first + 1u : first;
    const uint32_t both[TOGETHER] = {first, next};
    two_queries(args, head, both, length, logits);
    if (++pair == pairs) {
      pair = 0;
      ++head;
    }
  }
}
