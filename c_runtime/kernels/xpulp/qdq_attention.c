/* SPDX-License-Identifier: Apache-2.0
 *
 * Heads one after the other, so that the values of a head are turned once; its queries row by row through four loops
 * over the keys: scores, exponentials, weights, product with the values. Bytes are signed here: unsigned ones have
 * their sign bit flipped and their zero point moved. */
#include "tvm_pulp/plain/qdq_attention.h"
#include "tvm_pulp/xpulp.h"

struct head {
  const struct tvm_pulp_qdq_attention_args *args;
  const uint8_t *k;
  int32_t *exponentials; /* of a row */
  int32_t *corrections;  /* of every key: what the zero point of q adds */
  uint8_t *weights;      /* of a row: scores, then probabilities; zeros behind */
  uint8_t *values;       /* turned: [size][padded] */
  uint32_t padded;
  int32_t flip_q, flip_k, flip_v, zero_q, zero_k, zero_v;
};

static int32_t flip_of(uint32_t type) { return type == TVM_PULP_UINT8 ? (int32_t)0x80808080u : 0; }
static int32_t signed_zero(int32_t zero_point, uint32_t type) {
  return type == TVM_PULP_UINT8 ? zero_point - 128 : zero_point;
}

static int32_t nearest(float x, int32_t low, int32_t high) {
  int32_t result;
#if defined(__riscv_flen)
  __asm__("fcvt.w.s %0,%1,rne" : "=r"(result) : "f"(x));
#else
  result = tvm_pulp_round_even(x);
#endif
  return tvm_pulp_xp_min(tvm_pulp_xp_max(result, low), high);
}

static int32_t sum_of_bytes(const uint8_t *x, uint32_t size, int32_t flip) {
  int32_t sum = 0;
  for (uint32_t i = 0; i < size; i += 4u) sum = tvm_pulp_xp_sdotsp4(sum, tvm_pulp_xp_word(x + i) ^ flip, 0x01010101);
  return sum;
}

/* Four keys by four elements at a time; keys behind the last one are the last one again and have weight 0. */
static void turn_values(const struct head *h, const uint8_t *v) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  uint32_t last = args->keys - 1u, stride = args->v_stride, padded = h->padded;
  for (uint32_t key = 0; key < padded; key += 4u) {
    const uint8_t *rows[4];
    for (uint32_t i = 0; i < 4u; ++i) rows[i] = v + (key + i < last ? key + i : last) * stride;
    uint8_t *to = h->values + key;
    for (uint32_t d = 0; d < args->size; d += 4u) {
      int32_t w[4];
      for (uint32_t i = 0; i < 4u; ++i) w[i] = tvm_pulp_xp_word(rows[i] + d);
      tvm_pulp_xp_transpose4(w);
      for (uint32_t i = 0; i < 4u; ++i, to += padded) *(int32_t *)(void *)to = w[i] ^ h->flip_v;
    }
  }
}

static void prepare_head(struct head *h, uint32_t head) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  uint32_t shared = args->group == 1u ? head : head / args->group;
  h->k = args->k + shared * args->k_head_stride;
  turn_values(h, args->v + shared * args->v_head_stride);
  const uint8_t *k = h->k;
  for (uint32_t key = 0; key < args->keys; ++key, k += args->k_stride) {
    h->corrections[key] = h->zero_q ? -h->zero_q * sum_of_bytes(k, args->size, h->flip_k) : 0;
  }
}

/* Four dot products of `words` words: a row with four others. `flip` changes the words of the row's partners. */
#define DOTS(DOT, FLIP)                                                                                       \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[x]", 4, "%[a]") XP_LW("%[w0]", 4, "%[b0]")               \
                       XP_LW("%[w1]", 4, "%[b1]") XP_LW("%[w2]", 4, "%[b2]") XP_LW("%[w3]", 4, "%[b3]") FLIP   \
                           DOT("%[s0]", "%[x]", "%[w0]") DOT("%[s1]", "%[x]", "%[w1]")                        \
                               DOT("%[s2]", "%[x]", "%[w2]") XP_LOOP_END DOT("%[s3]", "%[x]", "%[w3]") XP_END  \
                   : [a] "+r"(a), [b0] "+r"(b0), [b1] "+r"(b1), [b2] "+r"(b2), [b3] "+r"(b3), [s0] "+r"(s[0]), \
                     [s1] "+r"(s[1]), [s2] "+r"(s[2]), [s3] "+r"(s[3]), [x] "=&r"(x), [w0] "=&r"(w0),         \
                     [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "=&r"(w3)                                           \
                   : [n] "r"(words), [f] "r"(flip), [g] "r"(row_flip)                                         \
                   : "memory")
#define FLIPPED                                                                                            \
  "xor %[x],%[x],%[g]\nxor %[w0],%[w0],%[f]\nxor %[w1],%[w1],%[f]\nxor %[w2],%[w2],%[f]\nxor %[w3],%[w3],%[f]\n"

/* Products of a query with keys `key` to `key` + 3; those behind the last key do not matter. */
static inline __attribute__((always_inline)) void scores_of_four(const struct head *h, const uint8_t *a, uint32_t key,
                                                                 int32_t s[4]) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  uint32_t stride = args->k_stride, left = args->keys - key, words = args->size >> 2;
  const uint8_t *b0 = h->k + key * stride, *b1 = left > 1u ? b0 + stride : b0, *b2 = left > 2u ? b1 + stride : b0;
  const uint8_t *b3 = left > 3u ? b2 + stride : b0;
  int32_t x, w0, w1, w2, w3, flip = h->flip_k, row_flip = h->flip_q;
  if (flip | row_flip) {
    DOTS(XP_SDOTSP, FLIPPED);
  } else {
    DOTS(XP_SDOTSP, "");
  }
}

/* Scores of a query through their table, in `weights`; returns the largest. */
static int32_t row_scores(const struct head *h, const uint8_t *q, const uint8_t *mask) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  int32_t zero_q = h->zero_q, zero_k = h->zero_k, best = 0, low = args->logit_low, high = args->logit_high;
  int32_t constant = (int32_t)args->size * zero_q * zero_k;
  if (zero_k) constant -= zero_k * sum_of_bytes(q, args->size, h->flip_q);
  const uint8_t *table = args->table - low;
  const float scale = args->reals[0];
  for (uint32_t key = 0; key < args->keys; key += 4u) {
    int32_t s[4] = {constant, constant, constant, constant};
    scores_of_four(h, q, key, s);
    uint32_t count = args->keys - key < 4u ? args->keys - key : 4u;
    const int32_t *corrections = h->corrections + key;
    for (uint32_t i = 0; i < count; ++i) {
      int32_t logit = nearest((float)(s[i] + corrections[i]) * scale, low, high);
      int32_t score = table[(mask ? 256 * mask[key + i] : 0) + logit];
      h->weights[key + i] = (uint8_t)score;
      best = tvm_pulp_xp_max(best, score);
    }
  }
  return best;
}

/* Probabilities of a row from its scores. */
static void row_weights(const struct head *h, int32_t best) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  const int32_t *exponential = args->exponential + best, high = args->probability_high;
  uint8_t *w = h->weights, *end = w + args->keys;
  int32_t total = 0, *e = h->exponentials;
  do {
    int32_t value = exponential[-(int32_t)*w++];
    total += value;
    *e++ = value;
  } while (w < end);
  const float factor = args->reals[1] / (float)total;
  e = h->exponentials;
  w = h->weights;
  do {
    *w++ = (uint8_t)nearest((float)*e++ * factor, 0, high);
  } while (w < end);
}

static void row_result(const struct head *h, uint8_t *y) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  uint32_t padded = h->padded, words = padded >> 2;
  const float scale = args->reals[2];
  int32_t low = args->low, high = args->high, zero = args->zero_point, constant = 0;
  if (h->zero_v) {
    for (uint32_t i = 0; i < padded; i += 4u) {
      constant = tvm_pulp_xp_sdotup4(constant, tvm_pulp_xp_word(h->weights + i), 0x01010101);
    }
    constant *= -h->zero_v;
  }
  const uint8_t *b0 = h->values;
  for (uint32_t d = 0; d < args->size; d += 4u) {
    int32_t s[4] = {constant, constant, constant, constant}, x, w0, w1, w2, w3, flip = 0, row_flip = 0;
    const uint8_t *a = h->weights, *b1 = b0 + padded, *b2 = b1 + padded, *b3 = b2 + padded, *next = b3 + padded;
    DOTS(XP_SDOTUSP, "");
    for (uint32_t i = 0; i < 4u; ++i) y[d + i] = (uint8_t)(nearest((float)s[i] * scale, low, high) + zero);
    b0 = next;
  }
}

static void prepare(struct head *h, const struct tvm_pulp_qdq_attention_args *args, uint32_t core) {
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  h->args = args;
  h->padded = (args->keys + 3u) & ~3u;
  h->exponentials = (int32_t *)(void *)scratch;
  h->corrections = h->exponentials + h->padded;
  h->weights = (uint8_t *)(h->corrections + h->padded);
  h->values = h->weights + h->padded;
  for (uint32_t i = args->keys; i < h->padded; ++i) h->weights[i] = 0;
  h->flip_q = flip_of(args->q_type);
  h->flip_k = flip_of(args->k_type);
  h->flip_v = flip_of(args->v_type);
  h->zero_q = signed_zero(args->zero_point_q, args->q_type);
  h->zero_k = signed_zero(args->zero_point_k, args->k_type);
  h->zero_v = signed_zero(args->zero_point_v, args->v_type);
}

static __attribute__((noinline)) void whole_words(const struct tvm_pulp_qdq_attention_args *args, uint32_t core,
                                                  uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->heads * args->queries, core, cores);
  if (range.begin == range.end) return;
  struct head h;
  prepare(&h, args, core);
  uint32_t head = args->queries == 1u ? range.begin : range.begin / args->queries, prepared = args->heads;
  uint32_t query = range.begin - head * args->queries;
  for (uint32_t left = range.end - range.begin; left > 0u; --left) {
    if (prepared != head) prepare_head(&h, head);
    prepared = head;
    const uint8_t *mask = args->mask ? args->mask + head * args->mask_head_stride + query * args->mask_stride : 0;
    row_weights(&h, row_scores(&h, args->q + head * args->q_head_stride + query * args->q_stride, mask));
    row_result(&h, args->y + head * args->y_head_stride + query * args->y_stride);
    if (++query == args->queries) {
      query = 0;
      ++head;
    }
  }
}

TVM_PULP_KERNEL(qdq_attention) {
  if ((args->size & 3u) == 0u) {
    whole_words(args, core, cores);
  } else {
    tvm_pulp_plain_qdq_attention(args, core, cores);
  }
}
