/* SPDX-License-Identifier: Apache-2.0
 *
 * Heads one after the other, so that the values of a head are turned once; its queries row by row through four loops
 * over the keys: scores, exponentials, weights, product with the values. Bytes are signed here: unsigned ones have
 * their sign bit flipped and their zero point moved. */
#include "tvm_pulp/plain/qdq_attention.h"
#include "tvm_pulp/xpulp.h"

/* Registers are few: each loop in a function of its own. */
#define NOINLINE __attribute__((noinline))

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
  int32_t sum = 0, w, n = (int32_t)(size >> 2);
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w]", 4, "%[x]") "xor %[w],%[w],%[f]\n"
                       XP_LOOP_END XP_SDOTSP("%[s]", "%[w]", "%[o]") XP_END
                   : [x] "+r"(x), [s] "+r"(sum), [w] "=&r"(w)
                   : [n] "r"(n), [f] "r"(flip), [o] "r"(0x01010101)
                   : "memory");
  return sum;
}

/* Four keys by four elements at a time; keys behind the last one repeat another and have weight 0. */
static NOINLINE void turn_values(const struct head *h, const uint8_t *v) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  const uint32_t stride = args->v_stride, padded = h->padded;
  const int32_t flip = h->flip_v;
  uint8_t *column = h->values;
  for (uint32_t left = args->keys; left > 0u; column += 4) {
    const uint8_t *r0 = v, *end = v + args->size, *r1 = left > 1u ? r0 + stride : r0, *r2 = left > 2u ? r1 + stride : r0;
    const uint8_t *r3 = left > 3u ? r2 + stride : r0;
    uint8_t *to = column;
    for (; r0 < end; r0 += 4, r1 += 4, r2 += 4, r3 += 4) {
      int32_t w[4] = {tvm_pulp_xp_word(r0), tvm_pulp_xp_word(r1), tvm_pulp_xp_word(r2), tvm_pulp_xp_word(r3)};
      tvm_pulp_xp_transpose4(w);
      tvm_pulp_xp_put_word(to, w[0] ^ flip);
      tvm_pulp_xp_put_word(to + padded, w[1] ^ flip);
      tvm_pulp_xp_put_word(to + 2u * padded, w[2] ^ flip);
      tvm_pulp_xp_put_word(to + 3u * padded, w[3] ^ flip);
      to += 4u * padded;
    }
    v += 4u * stride;
    left = left < 4u ? 0u : left - 4u;
  }
}

static NOINLINE void prepare_head(struct head *h, uint32_t head) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  uint32_t shared = args->group == 1u ? head : head / args->group;
  h->k = args->k + shared * args->k_head_stride;
  turn_values(h, args->v + shared * args->v_head_stride);
  const uint8_t *k = h->k;
  for (uint32_t key = 0; key < args->keys; ++key, k += args->k_stride) {
    h->corrections[key] = h->zero_q ? -h->zero_q * sum_of_bytes(k, args->size, h->flip_k) : 0;
  }
}

/* Four dot products of `words` words: a row with four others, whose words are changed by `flip`. */
#define DOTS(DOT, FLIP)                                                                                       \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[x]", 4, "%[a]") XP_LW("%[w0]", 4, "%[b0]")               \
                       XP_LW("%[w1]", 4, "%[b1]") XP_LW("%[w2]", 4, "%[b2]") XP_LW("%[w3]", 4, "%[b3]") FLIP   \
                           DOT("%[s0]", "%[x]", "%[w0]") DOT("%[s1]", "%[x]", "%[w1]")                        \
                               DOT("%[s2]", "%[x]", "%[w2]") XP_LOOP_END DOT("%[s3]", "%[x]", "%[w3]") XP_END  \
                   : [a] "+r"(a), [b0] "+r"(b0), [b1] "+r"(b1), [b2] "+r"(b2), [b3] "+r"(b3), [s0] "+r"(s0),  \
                     [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [x] "=&r"(x), [w0] "=&r"(w0),               \
                     [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "=&r"(w3)                                           \
                   : [n] "r"(words), [f] "r"(flip), [g] "r"(row_flip)                                         \
                   : "memory")
#define FLIPPED                                                                                            \
  "xor %[x],%[x],%[g]\nxor %[w0],%[w0],%[f]\nxor %[w1],%[w1],%[f]\nxor %[w2],%[w2],%[f]\nxor %[w3],%[w3],%[f]\n"

/* Scores of a query through their table, in `weights`; returns the largest. */
static inline __attribute__((always_inline)) int32_t scores_of_row(const struct head *h, const uint8_t *q,
                                                                   const uint8_t *mask, uint32_t masked) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  /* Copies: bytes that are written could be anything to the compiler. */
  const uint32_t stride = args->k_stride, words = args->size >> 2, keys = args->keys;
  const int32_t flip = h->flip_k, row_flip = h->flip_q, low = args->logit_low, high = args->logit_high;
  const int32_t *corrections = h->corrections;
  const uint8_t *table = args->table - low, *k = h->k;
  const float scale = args->reals[0];
  uint8_t *to = h->weights;
  int32_t best = 0, constant = (int32_t)args->size * h->zero_q * h->zero_k;
  if (h->zero_k) constant -= h->zero_k * sum_of_bytes(q, args->size, row_flip);
#define SCORE(s, i)                                                                        \
  s = nearest((float)(s + corrections[i]) * scale, low, high);                              \
  s = table[masked ? s + 256 * mask[i] : s];                                                \
  best = tvm_pulp_xp_max(best, s)
  for (uint32_t left = keys; left > 0u;) {
    const uint32_t count = left < 4u ? left : 4u;
    const uint8_t *a = q, *b0 = k, *b1 = count > 1u ? b0 + stride : b0, *b2 = count > 2u ? b1 + stride : b0;
    const uint8_t *b3 = count > 3u ? b2 + stride : b0;
    int32_t s0 = constant, s1 = constant, s2 = constant, s3 = constant, x, w0, w1, w2, w3;
    k += 4u * stride;
    if (flip | row_flip) {
      DOTS(XP_SDOTSP, FLIPPED);
    } else {
      DOTS(XP_SDOTSP, "");
    }
    SCORE(s0, 0);
    if (count == 4u) {
      SCORE(s1, 1);
      SCORE(s2, 2);
      SCORE(s3, 3);
      tvm_pulp_xp_put_word(to, tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(s0, s1, s0), s3, s2));
    } else {
      to[0] = (uint8_t)s0;
      if (count > 1u) {
        SCORE(s1, 1);
        to[1] = (uint8_t)s1;
      }
      if (count > 2u) {
        SCORE(s2, 2);
        to[2] = (uint8_t)s2;
      }
    }
    corrections += 4;
    mask += masked ? 4 : 0;
    to += 4;
    left -= count;
  }
  return best;
}

static NOINLINE int32_t masked_scores(const struct head *h, const uint8_t *q, const uint8_t *mask) {
  return scores_of_row(h, q, mask, 1);
}
static NOINLINE int32_t plain_scores(const struct head *h, const uint8_t *q) { return scores_of_row(h, q, h->k, 0); }

/* Probabilities of a row from its scores. */
static NOINLINE void row_weights(const struct head *h, int32_t best) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  const int32_t *exponential = args->exponential;
  uint8_t *w = h->weights;
  int32_t total = 0, *e = h->exponentials, v, n = (int32_t)args->keys;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LBU("%[v]", 1, "%[w]") "sub %[v],%[b],%[v]\nslli %[v],%[v],2\n"
                       XP_LWX("%[v]", "%[v]", "%[t]") "add %[s],%[s],%[v]\n" XP_LOOP_END XP_SW("%[v]", 4, "%[e]") XP_END
                   : [w] "+r"(w), [e] "+r"(e), [s] "+r"(total), [v] "=&r"(v)
                   : [n] "r"(n), [b] "r"(best), [t] "r"(exponential)
                   : "memory");
  const float factor = args->reals[1] / (float)total;
  e = h->exponentials;
  w = h->weights;
#if defined(__riscv_flen)
  float f;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[v]", 4, "%[e]") "fcvt.s.w %[f],%[v]\nfmul.s %[f],%[f],%[k]\n"
                   "fcvt.w.s %[v],%[f],rne\n" XP_MIN("%[v]", "%[v]", "%[h]") XP_LOOP_END XP_SB("%[v]", 1, "%[w]") XP_END
                   : [w] "+r"(w), [e] "+r"(e), [v] "=&r"(v), [f] "=&f"(f)
                   : [n] "r"(n), [k] "f"(factor), [h] "r"(args->probability_high)
                   : "memory");
#else
  for (; n > 0; n--) *w++ = (uint8_t)nearest((float)*e++ * factor, 0, args->probability_high);
#endif
}

static NOINLINE void row_result(const struct head *h, uint8_t *y) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  const uint32_t padded = h->padded, words = padded >> 2;
  const float scale = args->reals[2];
  const int32_t low = args->low, high = args->high;
  const int32_t zeros = (int32_t)((uint32_t)(args->zero_point & 0xff) * 0x01010101u);
  int32_t constant = 0;
  if (h->zero_v) {
    for (uint32_t i = 0; i < padded; i += 4u) {
      constant = tvm_pulp_xp_sdotup4(constant, tvm_pulp_xp_word(h->weights + i), 0x01010101);
    }
    constant *= -h->zero_v;
  }
  const uint8_t *b0 = h->values;
  for (uint8_t *end = y + args->size; y < end; y += 4) {
    int32_t s0 = constant, s1 = constant, s2 = constant, s3 = constant, x, w0, w1, w2, w3, flip = 0, row_flip = 0;
    const uint8_t *a = h->weights, *b1 = b0 + padded, *b2 = b1 + padded, *b3 = b2 + padded, *next = b3 + padded;
    DOTS(XP_SDOTUSP, "");
    s0 = nearest((float)s0 * scale, low, high);
    s1 = nearest((float)s1 * scale, low, high);
    s2 = nearest((float)s2 * scale, low, high);
    s3 = nearest((float)s3 * scale, low, high);
    s0 = tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(s0, s1, s0), s3, s2);
    tvm_pulp_xp_put_word(y, tvm_pulp_xp_add4(s0, zeros));
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
    const uint8_t *q = args->q + head * args->q_head_stride + query * args->q_stride;
    const uint8_t *mask = args->mask + head * args->mask_head_stride + query * args->mask_stride;
    row_weights(&h, args->mask ? masked_scores(&h, q, mask) : plain_scores(&h, q));
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
