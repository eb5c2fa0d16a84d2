/* SPDX-License-Identifier: Apache-2.0
 *
 * Heads one after the other, so that the values of a head are turned once; its queries row by row through four loops
 * over the keys: scores, exponentials, weights, product with the values. Bytes are signed here: unsigned ones have
 * their sign bit flipped and their zero point moved. */
#include "translate.h"
#include "tvm_pulp/plain/qdq_attention.h"

/* Registers are few: each loop in a function of its own. */
#define NOINLINE __attribute__((noinline))

struct head {
  const struct tvm_pulp_qdq_attention_args *args;
  const uint8_t *k;
  int32_t *exponentials; /* of a row */
  int32_t *corrections;  /* of every key: what the zero point of q adds */
  uint8_t *weights;      /* of a row: scores, then probabilities; zeros behind */
  uint8_t *values;       /* turned: [size][padded] */
  uint8_t *row;          /* a query through its table */
  uint8_t *keys;         /* the keys of a head through theirs */
  uint32_t padded, k_stride;
  struct tvm_pulp_range mine; /* elements of the values that are this core's, in whole words */
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
    const uint8_t *r0 = v + h->mine.begin, *end = v + h->mine.end, *r1 = left > 1u ? r0 + stride : r0;
    const uint8_t *r2 = left > 2u ? r1 + stride : r0, *r3 = left > 3u ? r2 + stride : r0;
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

/* What the zero point of q adds to the scores of four keys at a time; the last four reach back. */
static void correct_keys(const struct head *h) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  const int32_t flip = h->flip_k, factor = -h->zero_q;
  const uint32_t stride = h->k_stride, words = args->size >> 2, last = args->keys - 4u;
  for (uint32_t key = 0;; key = key + 4u < last ? key + 4u : last) {
    const uint8_t *b0 = h->k + key * stride, *b1 = b0 + stride, *b2 = b1 + stride, *b3 = b2 + stride;
    int32_t *to = h->corrections + key, s0 = 0, s1 = 0, s2 = 0, s3 = 0, w0, w1, w2, w3;
    if (factor != 0) {
      __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w0]", 4, "%[b0]") XP_LW("%[w1]", 4, "%[b1]")
                           XP_LW("%[w2]", 4, "%[b2]") XP_LW("%[w3]", 4, "%[b3]") "xor %[w0],%[w0],%[f]\n"
                       "xor %[w1],%[w1],%[f]\nxor %[w2],%[w2],%[f]\nxor %[w3],%[w3],%[f]\n"
                       XP_SDOTSP("%[s0]", "%[w0]", "%[o]") XP_SDOTSP("%[s1]", "%[w1]", "%[o]")
                           XP_SDOTSP("%[s2]", "%[w2]", "%[o]") XP_LOOP_END XP_SDOTSP("%[s3]", "%[w3]", "%[o]") XP_END
                       : XP_FOUR("+r", b), XP_FOUR("+r", s), XP_FOUR("=&r", w)
                       : [n] "r"(words), [f] "r"(flip), [o] "r"(0x01010101)
                       : "memory");
    }
    to[0] = factor * s0;
    to[1] = factor * s1;
    to[2] = factor * s2;
    to[3] = factor * s3;
    if (key == last) return;
  }
}

static NOINLINE void prepare_head(struct head *h, uint32_t head) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  uint32_t shared = args->group == 1u ? head : head / args->group;
  h->k = args->k + shared * args->k_head_stride;
  turn_values(h, args->v + shared * args->v_head_stride);
  if (args->k_table) {
    const uint8_t *from = h->k;
    uint8_t *to = h->keys;
    for (uint32_t key = 0; key < args->keys; ++key, from += args->k_stride, to += args->size) {
      tvm_pulp_translate(from, args->k_table, to, args->size >> 2);
    }
    h->k = h->keys;
  }
  correct_keys(h);
}

/* Four dot products of `words` words: a row with four others, whose words are changed by `flip`. */
#define DOTS(DOT, FLIP)                                                                                       \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[x]", 4, "%[a]") XP_LW("%[w0]", 4, "%[b0]")               \
                       XP_LW("%[w1]", 4, "%[b1]") XP_LW("%[w2]", 4, "%[b2]") XP_LW("%[w3]", 4, "%[b3]") FLIP   \
                           DOT("%[s0]", "%[x]", "%[w0]") DOT("%[s1]", "%[x]", "%[w1]")                        \
                               DOT("%[s2]", "%[x]", "%[w2]") XP_LOOP_END DOT("%[s3]", "%[x]", "%[w3]") XP_END  \
                   : [a] "+r"(a), XP_FOUR("+r", b), XP_FOUR("+r", s), [x] "=&r"(x), XP_FOUR("=&r", w)         \
                   : [n] "r"(words), [f] "r"(flip), [g] "r"(row_flip)                                         \
                   : "memory")
#define FLIPPED                                                                                            \
  "xor %[x],%[x],%[g]\nxor %[w0],%[w0],%[f]\nxor %[w1],%[w1],%[f]\nxor %[w2],%[w2],%[f]\nxor %[w3],%[w3],%[f]\n"

#if defined(__riscv_flen)
/* Four dot products as four bytes of s0: what the zero point adds, scaled, rounded, clipped, looked up. */
#define EACH(OP)                                                                                              \
  OP("%[s0]", "%[w0]", "%[f0]", "0") OP("%[s1]", "%[w1]", "%[f1]", "1") OP("%[s2]", "%[w2]", "%[f2]", "2") \
  OP("%[s3]", "%[w3]", "%[f3]", "3")
#define CORRECTION(s, w, f, i) "lw " w ",4*" i "(%[a])\n"
#define CORRECT(s, w, f, i) "add " s "," s "," w "\n"
#define REAL(s, w, f, i) "fcvt.s.w " f "," s "\n"
#define SCALE(s, w, f, i) "fmul.s " f "," f ",%[k]\n"
#define ROUND(s, w, f, i) "fcvt.w.s " s "," f ",rne\n" XP_MAX(s, s, "%[l]") XP_MIN(s, s, "%[h]")
#define CLASS(s, w, f, i) "lbu " w "," i "(%[c])\nslli " w "," w ",8\nadd " s "," s "," w "\n"
#define LOOK_UP(s, w, f, i) XP_LBUX(s, s, "%[t]")
#define LARGEST(s, w, f, i) XP_MAX("%[b]", "%[b]", s)
#define SCORES(CLASSES)                                                                                       \
  __asm__ volatile(XP_BEGIN EACH(CORRECTION) EACH(CORRECT) EACH(REAL) EACH(SCALE) EACH(ROUND) CLASSES EACH(LOOK_UP) \
                       EACH(LARGEST) XP_PACKLO("%[s0]", "%[s1]", "%[s0]") XP_PACKHI("%[s0]", "%[s3]", "%[s2]") XP_END \
                   : XP_FOUR("+r", s), [b] "+r"(best), XP_FOUR("=&r", w), XP_FOUR("=&f", f)                   \
                   : [a] "r"(add), [k] "f"(scale), [l] "r"(low), [h] "r"(high), [t] "r"(table), [c] "r"(classes) \
                   : "memory")
#else
#define SCORE(s, i)                                                                        \
  s = nearest((float)(s + add[i]) * scale, low, high);                                      \
  s = table[masked ? s + 256 * mask[key + i] : s];                                          \
  best = tvm_pulp_xp_max(best, s)
#endif

/* Scores of a query through their table, in `weights`; returns the largest. There are four keys or more. */
static inline __attribute__((always_inline)) int32_t scores_of_row(const struct head *h, const uint8_t *q,
                                                                   const uint8_t *mask, uint32_t masked) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  /* Copies: bytes that are written could be anything to the compiler. */
  const uint32_t stride = h->k_stride, words = args->size >> 2;
  const int32_t flip = h->flip_k, row_flip = h->flip_q, low = args->logit_low, high = args->logit_high;
  const int32_t *corrections = h->corrections;
  const uint8_t *table = args->table - low, *k = h->k;
  const float scale = args->reals[0];
  uint8_t *to = h->weights;
  int32_t best = 0, constant = (int32_t)args->size * h->zero_q * h->zero_k;
  if (h->zero_k) constant -= h->zero_k * sum_of_bytes(q, args->size, row_flip);
  uint32_t key = 0, last = args->keys - 4u;
  for (;;) {
    const uint8_t *a = q, *b0 = k + key * stride, *b1 = b0 + stride, *b2 = b1 + stride, *b3 = b2 + stride;
    const int32_t *add = corrections + key;
    int32_t s0 = constant, s1 = constant, s2 = constant, s3 = constant, x, w0, w1, w2, w3;
    if (flip | row_flip) {
      DOTS(XP_SDOTSP, FLIPPED);
    } else {
      DOTS(XP_SDOTSP, "");
    }
#if defined(__riscv_flen)
    const uint8_t *classes = mask + key;
    float f0, f1, f2, f3;
    if (masked) {
      SCORES(EACH(CLASS));
    } else {
      SCORES("");
    }
    tvm_pulp_xp_put_word(to + key, s0);
#else
    SCORE(s0, 0);
    SCORE(s1, 1);
    SCORE(s2, 2);
    SCORE(s3, 3);
    tvm_pulp_xp_put_word(to + key, tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(s0, s1, s0), s3, s2));
#endif
    if (key == last) break;
    /* The last four reach back. */
    key = key + 4u < last ? key + 4u : last;
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
  /* The next value is loaded while this one is waited for: one more than there are is read, inside the scratch area. */
  int32_t next;
  __asm__ volatile(XP_BEGIN XP_LBU("%[x]", 1, "%[w]") XP_LOOP("%[n]") "sub %[v],%[b],%[x]\nslli %[v],%[v],2\n"
                       XP_LWX("%[v]", "%[v]", "%[t]") XP_LBU("%[x]", 1, "%[w]") "add %[s],%[s],%[v]\n" XP_LOOP_END
                           XP_SW("%[v]", 4, "%[e]") XP_END
                   : [w] "+r"(w), [e] "+r"(e), [s] "+r"(total), [v] "=&r"(v), [x] "=&r"(next)
                   : [n] "r"(n), [b] "r"(best), [t] "r"(exponential)
                   : "memory");
  const float factor = args->reals[1] / (float)total;
  e = h->exponentials;
  w = h->weights;
#if defined(__riscv_flen)
  float f;
  __asm__ volatile(XP_BEGIN XP_LW("%[x]", 4, "%[e]") XP_LOOP("%[n]") "fcvt.s.w %[f],%[x]\n" XP_LW("%[x]", 4, "%[e]")
                   "fmul.s %[f],%[f],%[k]\nfcvt.w.s %[v],%[f],rne\n" XP_MIN("%[v]", "%[v]", "%[h]") XP_LOOP_END
                       XP_SB("%[v]", 1, "%[w]") XP_END
                   : [w] "+r"(w), [e] "+r"(e), [v] "=&r"(v), [f] "=&f"(f), [x] "=&r"(next)
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
  uint8_t *end = y + h->mine.end;
  for (y += h->mine.begin; y < end; y += 4) {
    int32_t s0 = constant, s1 = constant, s2 = constant, s3 = constant, x, w0, w1, w2, w3, flip = 0, row_flip = 0;
    const uint8_t *a = h->weights, *b1 = b0 + padded, *b2 = b1 + padded, *b3 = b2 + padded, *next = b3 + padded;
    DOTS(XP_SDOTUSP, "");
    int32_t s[4] = {s0, s1, s2, s3};
    for (uint32_t i = 0; i < 4u; ++i) s[i] = nearest((float)s[i] * scale, low, high);
    const int32_t word = tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(s[0], s[1], s[0]), s[3], s[2]);
    tvm_pulp_xp_put_word(y, tvm_pulp_xp_add4(word, zeros));
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
  h->row = h->values + args->size * h->padded;
  h->keys = args->q_table ? h->row + args->size : h->row;
  h->k_stride = args->k_table ? args->size : args->k_stride;
  /* Loops read one exponential more than there are. */
  for (uint32_t i = args->keys; i < h->padded; ++i) {
    h->weights[i] = 0;
    h->exponentials[i] = 0;
  }
  h->mine.begin = 0;
  h->mine.end = args->size;
  h->flip_q = flip_of(args->q_type);
  h->flip_k = flip_of(args->k_type);
  h->flip_v = flip_of(args->v_type);
  h->zero_q = signed_zero(args->zero_point_q, args->q_type);
  h->zero_k = signed_zero(args->zero_point_k, args->k_type);
  h->zero_v = signed_zero(args->zero_point_v, args->v_type);
}

/* Queries of one head. */
static void queries_of_head(struct head *h, uint32_t head, uint32_t begin, uint32_t end) {
  const struct tvm_pulp_qdq_attention_args *args = h->args;
  if (begin == end) return;
  prepare_head(h, head);
  const uint8_t *q = args->q + head * args->q_head_stride + begin * args->q_stride;
  const uint8_t *mask = args->mask ? args->mask + head * args->mask_head_stride + begin * args->mask_stride : 0;
  uint8_t *y = args->y + head * args->y_head_stride + begin * args->y_stride;
  for (uint32_t query = begin; query < end; ++query) {
    if (args->q_table) tvm_pulp_translate(q, args->q_table, h->row, args->size >> 2);
    const uint8_t *row = args->q_table ? h->row : q;
    row_weights(h, mask ? masked_scores(h, row, mask) : plain_scores(h, row));
    row_result(h, y);
    q += args->q_stride;
    y += args->y_stride;
    if (mask) mask += args->mask_stride;
  }
}

/* Fewer heads than cores: a few cores share a head where that comes out even, its queries or, of one query, the
 * elements of its values. Else rows as they come. */
static void whole_words(const struct tvm_pulp_qdq_attention_args *args, uint32_t core, uint32_t cores) {
  struct head h;
  prepare(&h, args, core);
  uint32_t heads = args->heads, queries = args->queries, together = cores / heads;
  if (together * heads == cores) {
    uint32_t head = together == 1u ? core : core / together;
    struct tvm_pulp_range range = tvm_pulp_share(queries, core - head * together, together);
    if (queries == 1u) {
      range = tvm_pulp_share(args->size >> 2, core - head * together, together);
      h.mine.begin = 4u * range.begin;
      h.mine.end = 4u * range.end;
      range.begin = 0;
      range.end = h.mine.begin < h.mine.end;
    }
    queries_of_head(&h, head, range.begin, range.end);
    return;
  }
  struct tvm_pulp_range range = tvm_pulp_share(heads * queries, core, cores);
  uint32_t head = queries == 1u ? range.begin : range.begin / queries, query = range.begin - head * queries;
  for (uint32_t left = range.end - range.begin; left > 0u; ++head) {
    uint32_t count = queries - query < left ? queries - query : left;
    queries_of_head(&h, head, query, query + count);
    left -= count;
    query = 0;
  }
}

TVM_PULP_KERNEL(qdq_attention) {
  if ((args->size & 3u) == 0u && args->keys >= 4u) {
    whole_words(args, core, cores);
  } else {
    tvm_pulp_plain_qdq_attention(args, core, cores);
  }
}
