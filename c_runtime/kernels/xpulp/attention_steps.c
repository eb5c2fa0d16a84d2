/* SPDX-License-Identifier: Apache-2.0 */
#include "attention_steps.h"

#include "softmax_row.h"
#include "tvm_pulp/elements.h"
#include "tvm_pulp/xpulp.h"

/* Adds 128 to four signed bytes. */
static const int32_t FLIP = (int32_t)0x80808080u;

/* Up to four logits (plus 128) as one word; bytes beyond `count` are 0. Heads of any size. */
static int32_t few_logits(const struct tvm_pulp_attention_args *args, const int8_t *q, const int8_t *k,
                          uint32_t count) {
  const struct tvm_pulp_requant *r = &args->logit_requant;
  uint32_t stride = args->k_stride, words = args->size >> 2;
  const int8_t *k0 = k, *k1 = k + (count > 1u ? stride : 0u);
  const int8_t *k2 = k1 + (count > 2u ? stride : 0u), *k3 = k2 + (count > 3u ? stride : 0u);
  int32_t v[4], x, w;
  __asm__ volatile(
      "li %[v0],0\nli %[v1],0\nli %[v2],0\nli %[v3],0\n" XP_BEGIN XP_LOOP("%[n]") XP_LW("%[x]", 4, "%[q]")
          XP_LW("%[w]", 4, "%[k0]") "nop\n" XP_SDOTSP("%[v0]", "%[x]", "%[w]") XP_LW("%[w]", 4, "%[k1]") "nop\n"
      XP_SDOTSP("%[v1]", "%[x]", "%[w]") XP_LW("%[w]", 4, "%[k2]") "nop\n" XP_SDOTSP("%[v2]", "%[x]", "%[w]")
          XP_LW("%[w]", 4, "%[k3]") "nop\n" XP_LOOP_END XP_SDOTSP("%[v3]", "%[x]", "%[w]") XP_END
      : [q] "+r"(q), [k0] "+r"(k0), [k1] "+r"(k1), [k2] "+r"(k2), [k3] "+r"(k3), [v0] "=&r"(v[0]), [v1] "=&r"(v[1]),
        [v2] "=&r"(v[2]), [v3] "=&r"(v[3]), [x] "=&r"(x), [w] "=&r"(w)
      : [n] "r"(words)
      : "memory");
  for (uint32_t j = 0; j < 4u; ++j) {
    v[j] = tvm_pulp_xp_add_shift((int32_t)((uint32_t)v[j] * (uint32_t)r->mul[0]), r->add[0], r->shift);
    v[j] = tvm_pulp_xp_clipr(v[j], 127);
    if (args->table) v[j] = args->table[v[j] + 128];
  }
  int32_t word = tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, v[1], v[0]), v[3], v[2]) ^ FLIP;
  return word & (int32_t)(0xffffffffu >> (8u * (4u - count)));
}

/* Subtracts what the mask takes, down to 0, and adds what it gives, up to 255. */
static int32_t apply_mask(int32_t word, const int8_t *mask) {
  int32_t values = tvm_pulp_xp_word(mask), gain = tvm_pulp_xp_max4(values, 0), drop = tvm_pulp_xp_sub4(gain, values);
  word = tvm_pulp_xp_sub4(word, tvm_pulp_xp_minu4(drop, word));
  return tvm_pulp_xp_add4(word, tvm_pulp_xp_minu4(gain, ~word));
}

/* Four keys of a head of four elements for two queries, the second `%[pad]` bytes (mask: `%[ms]`) behind the first. The
 * keys are loaded once. TABLE, MASK and MASK_NEXT are text or nothing. */
#define EACH(OP) OP("%[v0]", "%[k0]") OP("%[v1]", "%[k1]") OP("%[v2]", "%[k2]") OP("%[v3]", "%[k3]")
#define KEY(v, k) XP_LWR(k, "%[s]", "%[k]")
#define DOT_FIRST(v, k) XP_DOTSP(v, k, "%[q]")
#define DOT_SECOND(v, k) XP_DOTSP(v, k, "%[r]")
#define SCALE(v, k) "mul " v "," v ",%[m]\n"
#define ADD(v, k) XP_ADDNR(v, "%[a]", "%[sh]")
#define CLIP(v, k) XP_CLIP8(v, v)
#define LOOK(v, k) XP_LBX(v, v, "%[tb]")
#define MASK_APPLY \
  XP_SUB4("%[v1]", "x0", "%[v1]") XP_MINU4("%[v1]", "%[v1]", "%[v0]") XP_SUB4("%[v0]", "%[v0]", "%[v1]")
#define MASK_SECOND XP_LWX("%[v1]", "%[ms]", "%[ma]")
#define MASK_FIRST XP_LW("%[v1]", 4, "%[ma]")
#define LOGITS(DOT, TABLE, LOAD_MASK, MASK, best)                                                           \
  EACH(DOT) EACH(SCALE) EACH(ADD) EACH(CLIP) TABLE XP_PACKLO("%[v0]", "%[v1]", "%[v0]") LOAD_MASK           \
  XP_PACKHI("%[v0]", "%[v3]", "%[v2]") "xor %[v0],%[v0],%[f]\n" MASK XP_MAXU4(best, best, "%[v0]")
#define LOOP(TABLE, LOAD_FIRST, LOAD_SECOND, MASK)                                                          \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") EACH(KEY) LOGITS(DOT_SECOND, TABLE, LOAD_SECOND, MASK, "%[c]")   \
                       XP_SWX("%[v0]", "%[pad]", "%[y]") LOGITS(DOT_FIRST, TABLE, LOAD_FIRST, MASK, "%[b]")  \
                       XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END                                         \
                   : [k] "+r"(key), [y] "+r"(y), [b] "+r"(best), [c] "+r"(best_next), [ma] "+r"(drop),       \
                     [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2), [v3] "=&r"(v3), [k0] "=&r"(k0),         \
                     [k1] "=&r"(k1), [k2] "=&r"(k2), [k3] "=&r"(k3)                                         \
                   : [n] "r"(n), [q] "r"(word), [r] "r"(word_next), [s] "r"(stride), [m] "r"(mul), [a] "r"(add), \
                     [sh] "r"(shift), [tb] "r"(table), [f] "r"(FLIP), [pad] "r"(pad), [ms] "r"(mask_stride) \
                   : "memory")

/* The same for one query. */
#define LAST_LOOP(TABLE, LOAD_FIRST, MASK)                                                                  \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") EACH(KEY) LOGITS(DOT_FIRST, TABLE, LOAD_FIRST, MASK, "%[b]")     \
                       XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END                                         \
                   : [k] "+r"(key), [y] "+r"(row), [b] "+r"(best), [ma] "+r"(drop), [v0] "=&r"(v0),          \
                     [v1] "=&r"(v1), [v2] "=&r"(v2), [v3] "=&r"(v3), [k0] "=&r"(k0), [k1] "=&r"(k1),         \
                     [k2] "=&r"(k2), [k3] "=&r"(k3)                                                         \
                   : [n] "r"(n), [q] "r"(word), [s] "r"(stride), [m] "r"(mul), [a] "r"(add), [sh] "r"(shift), \
                     [tb] "r"(table), [f] "r"(FLIP)                                                         \
                   : "memory")

/* What is left of the keys, up to all of them. */
static int32_t rest_of_logits(const struct tvm_pulp_attention_args *args, const int8_t *q, const int8_t *k,
                              const int8_t *mask, uint8_t *y, uint32_t left, int32_t best) {
  while (left > 0u) {
    uint32_t count = left < 4u ? left : 4u;
    int32_t logits = few_logits(args, q, k, count);
    if (mask) {
      logits = apply_mask(logits, mask);
      /* Behind the last key the mask is anything. */
      if (count < 4u) logits &= (int32_t)((1u << 8u * count) - 1u);
      mask += 4;
    }
    best = tvm_pulp_xp_maxu4(best, logits);
    *(int32_t *)(void *)y = logits;
    y += 4;
    k += 4u * args->k_stride;
    left -= count;
  }
  return best;
}

static int32_t largest_byte(int32_t word) {
  word = tvm_pulp_xp_maxu4(word, (int32_t)((uint32_t)word >> 16));
  return tvm_pulp_xp_max(word & 0xff, word >> 8 & 0xff);
}

/* One combination of table and mask: `count` queries, two at a time. */
#define DEFINE_LOGITS(name, TABLE, LOAD_FIRST, LOAD_SECOND, MASK)                                           \
  static void name(struct tvm_pulp_attention_core *c, const int8_t *q, const int8_t *k, const int8_t *mask, \
                   uint32_t count) {                                                                        \
    const struct tvm_pulp_attention_args *args = c->args;                                                   \
    const struct tvm_pulp_requant *r = &args->logit_requant;                                                \
    uint32_t n = args->keys >> 2, stride = args->k_stride, pad = c->padded, mask_stride = args->mask_stride; \
    int32_t mul = r->mul[0], add = r->add[0], shift = r->shift, v0, v1, v2, v3, k0, k1, k2, k3;             \
    const int8_t *table = args->table + 128;                                                                \
    uint8_t *row = c->logits;                                                                               \
    int32_t *most = c->best;                                                                                \
    for (; count > 1u; count -= 2u, most += 2, row += 2u * pad, mask += 2u * mask_stride) {                 \
      const int8_t *key = k, *drop = mask, *q_next = q + args->q_stride;                                    \
      uint8_t *y = row;                                                                                     \
      int32_t best = 0, best_next = 0, word = tvm_pulp_xp_word(q), word_next = tvm_pulp_xp_word(q_next);    \
      q = q_next + args->q_stride;                                                                          \
      LOOP(TABLE, LOAD_FIRST, LOAD_SECOND, MASK);                                                           \
      most[0] = best;                                                                                       \
      most[1] = best_next;                                                                                  \
    }                                                                                                       \
    if (count) {                                                                                            \
      const int8_t *key = k, *drop = mask;                                                                  \
      int32_t best = 0, word = tvm_pulp_xp_word(q);                                                         \
      LAST_LOOP(TABLE, LOAD_FIRST, MASK);                                                                   \
      most[0] = best;                                                                                       \
    }                                                                                                       \
  }
DEFINE_LOGITS(logits_plain, "", "", "", "")
DEFINE_LOGITS(logits_masked, "", MASK_FIRST, MASK_SECOND, MASK_APPLY)
DEFINE_LOGITS(logits_looked_up, EACH(LOOK), "", "", "")
DEFINE_LOGITS(logits_looked_up_masked, EACH(LOOK), MASK_FIRST, MASK_SECOND, MASK_APPLY)

void tvm_pulp_attention_logits(struct tvm_pulp_attention_core *c, const int8_t *q, const int8_t *k, const int8_t *mask,
                               uint32_t count) {
  const struct tvm_pulp_attention_args *args = c->args;
  uint32_t done = 0;
  if (args->size == 4u && args->keys >= 4u && !c->mask_lifts) {
    done = args->keys & ~3u;
    if (args->table && mask) {
      logits_looked_up_masked(c, q, k, mask, count);
    } else if (args->table) {
      logits_looked_up(c, q, k, mask, count);
    } else if (mask) {
      logits_masked(c, q, k, mask, count);
    } else {
      logits_plain(c, q, k, mask, count);
    }
  } else {
    for (uint32_t i = 0; i < count; ++i) c->best[i] = 0;
  }
  if (done == args->keys) return;
  k += done * args->k_stride;
  uint8_t *y = c->logits + done;
  for (uint32_t i = 0; i < count; ++i, q += args->q_stride, y += c->padded) {
    const int8_t *drop = mask ? mask + i * args->mask_stride + done : 0;
    c->best[i] = rest_of_logits(args, q, k, drop, y, args->keys - done, c->best[i]);
  }
}

void tvm_pulp_attention_exponentials(struct tvm_pulp_attention_core *c, uint32_t count) {
  const uint32_t *table = c->args->exponential + 255;
  const uint8_t *logits = c->logits;
  uint32_t *e = c->exponentials, keys = c->args->keys, largest = *table;
  for (uint32_t i = 0; i < count; ++i, logits += c->padded, e += c->padded) {
    uint32_t sum = tvm_pulp_exponentials_unsigned(logits, keys, table - largest_byte(c->best[i]), e);
    /* What fills up the last word has no weight; its quotient must still be an index. */
    for (uint32_t key = keys; key < c->padded; ++key) e[key] = 0;
    c->reciprocal[i] = tvm_pulp_reciprocal_up_to(largest, (sum - keys) * c->inverse);
  }
}

/* Weights of four keys as one word in `w`: the exponentials at `e` divided, and looked up if LOOKUP is not empty. */
#define WEIGHT(v) XP_LBX(v, v, "%[p]")
#define LOOKUP(w) WEIGHT(w) WEIGHT("%[v1]") WEIGHT("%[v2]") WEIGHT("%[v3]")
#define NO_LOOKUP(w)
#define WEIGHTS(LOOK, w, e, m, s)                                                                           \
  XP_LW(w, 4, e) XP_LW("%[v1]", 4, e) XP_LW("%[v2]", 4, e) XP_LW("%[v3]", 4, e)                             \
  "mulhu " w "," w "," m "\nmulhu %[v1],%[v1]," m "\nmulhu %[v2],%[v2]," m "\nmulhu %[v3],%[v3]," m "\n"    \
  "srl " w "," w "," s "\nsrl %[v1],%[v1]," s "\nsrl %[v2],%[v2]," s "\nsrl %[v3],%[v3]," s "\n" LOOK(w)    \
  XP_PACKLO(w, "%[v1]", w) XP_PACKHI(w, "%[v3]", "%[v2]")
/* Two queries at a time: the values are loaded once. */
#define PRODUCT(LOOK, DOT)                                                                                  \
  __asm__ volatile(                                                                                         \
      "li %[a0],0\nli %[a1],0\nli %[a2],0\nli %[a3],0\nli %[b0],0\nli %[b1],0\nli %[b2],0\nli %[b3],0\n"      \
      XP_BEGIN XP_LOOP("%[n]") WEIGHTS(LOOK, "%[v0]", "%[e]", "%[m]", "%[s]")                               \
          WEIGHTS(LOOK, "%[w0]", "%[f]", "%[o]", "%[t]")                                                    \
          XP_LW("%[v1]", 4, "%[w]") XP_LW("%[v2]", 4, "%[w]") DOT("%[a0]", "%[v0]", "%[v1]")                \
          DOT("%[b0]", "%[w0]", "%[v1]") XP_LW("%[v1]", 4, "%[w]") DOT("%[a1]", "%[v0]", "%[v2]")           \
          DOT("%[b1]", "%[w0]", "%[v2]") XP_LW("%[v2]", 4, "%[w]") DOT("%[a2]", "%[v0]", "%[v1]")           \
          DOT("%[b2]", "%[w0]", "%[v1]") DOT("%[a3]", "%[v0]", "%[v2]")                                     \
          XP_LOOP_END DOT("%[b3]", "%[w0]", "%[v2]") XP_END                                                 \
      : [e] "+r"(e), [f] "+r"(f), [w] "+r"(values), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2),         \
        [v3] "=&r"(v3), [w0] "=&r"(w0), [a0] "=&r"(a0), [a1] "=&r"(a1), [a2] "=&r"(a2), [a3] "=&r"(a3),     \
        [b0] "=&r"(b0), [b1] "=&r"(b1), [b2] "=&r"(b2), [b3] "=&r"(b3)                                      \
      : [n] "r"(n), [m] "r"(r->multiplier), [s] "r"(r->shift), [o] "r"(next->multiplier), [t] "r"(next->shift), \
        [p] "r"(c->args->probability)                                                                       \
      : "memory")

/* The same for one query. */
#define LAST_PRODUCT(LOOK, DOT)                                                                             \
  __asm__ volatile(                                                                                         \
      "li %[a0],0\nli %[a1],0\nli %[a2],0\nli %[a3],0\n"                                                   \
      XP_BEGIN XP_LOOP("%[n]") WEIGHTS(LOOK, "%[v0]", "%[e]", "%[m]", "%[s]")                               \
          XP_LW("%[v1]", 4, "%[w]") XP_LW("%[v2]", 4, "%[w]") DOT("%[a0]", "%[v0]", "%[v1]")                \
          XP_LW("%[v1]", 4, "%[w]") DOT("%[a1]", "%[v0]", "%[v2]") XP_LW("%[v2]", 4, "%[w]")                \
          DOT("%[a2]", "%[v0]", "%[v1]") XP_LOOP_END DOT("%[a3]", "%[v0]", "%[v2]") XP_END                  \
      : [e] "+r"(e), [w] "+r"(values), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2), [v3] "=&r"(v3),      \
        [a0] "=&r"(a0), [a1] "=&r"(a1), [a2] "=&r"(a2), [a3] "=&r"(a3)                                      \
      : [n] "r"(n), [m] "r"(r->multiplier), [s] "r"(r->shift), [p] "r"(c->args->probability)                \
      : "memory")

/* Four accumulators to four results. */
static __attribute__((noinline)) void finish_head(const struct tvm_pulp_requant *r, uint8_t *y, int32_t a0, int32_t a1,
                                                  int32_t a2, int32_t a3) {
  if (r->kind != TVM_PULP_REQUANT_PULP_NARROW || r->wide_result) {
    int32_t acc[4] = {a0, a1, a2, a3};
    for (uint32_t i = 0; i < 4u; ++i) tvm_pulp_finish(r, y, i, acc[i], 0);
    return;
  }
  int32_t mul = r->mul[0], add = r->add[0], shift = r->shift, low = r->low, high = r->high;
  a0 = tvm_pulp_xp_add_shift((int32_t)((uint32_t)a0 * (uint32_t)mul), add, shift);
  a1 = tvm_pulp_xp_add_shift((int32_t)((uint32_t)a1 * (uint32_t)mul), add, shift);
  a2 = tvm_pulp_xp_add_shift((int32_t)((uint32_t)a2 * (uint32_t)mul), add, shift);
  a3 = tvm_pulp_xp_add_shift((int32_t)((uint32_t)a3 * (uint32_t)mul), add, shift);
  a0 = tvm_pulp_xp_min(tvm_pulp_xp_max(a0, low), high);
  a1 = tvm_pulp_xp_min(tvm_pulp_xp_max(a1, low), high);
  a2 = tvm_pulp_xp_min(tvm_pulp_xp_max(a2, low), high);
  a3 = tvm_pulp_xp_min(tvm_pulp_xp_max(a3, low), high);
  tvm_pulp_xp_put_word(y, tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, a1, a0), a3, a2));
}

#define DEFINE_PRODUCTS(name, LOOK, DOT)                                                                    \
  static void name(const struct tvm_pulp_attention_core *c, uint8_t *y, uint32_t count) {                   \
    const struct tvm_pulp_requant *requant = &c->args->requant;                                             \
    uint32_t n = c->padded >> 2, y_stride = c->args->y_stride, v0, v1, v2, v3, w0;                          \
    const uint32_t *e = c->exponentials;                                                                    \
    const struct tvm_pulp_reciprocal *r = c->reciprocal;                                                    \
    int32_t a0, a1, a2, a3, b0, b1, b2, b3;                                                                 \
    for (; count > 1u; count -= 2u, r += 2) {                                                               \
      const struct tvm_pulp_reciprocal *next = r + 1;                                                       \
      const int32_t *values = c->values;                                                                    \
      const uint32_t *f = e + c->padded;                                                                    \
      PRODUCT(LOOK, DOT);                                                                                   \
      e = f;                                                                                                \
      finish_head(requant, y, a0, a1, a2, a3);                                                              \
      finish_head(requant, y + y_stride, b0, b1, b2, b3);                                                   \
      y += 2u * y_stride;                                                                                   \
    }                                                                                                       \
    if (count) {                                                                                            \
      const int32_t *values = c->values;                                                                    \
      LAST_PRODUCT(LOOK, DOT);                                                                              \
      finish_head(requant, y, a0, a1, a2, a3);                                                              \
    }                                                                                                       \
  }
DEFINE_PRODUCTS(products, NO_LOOKUP, XP_SDOTUSP)
DEFINE_PRODUCTS(products_looked_up, LOOKUP, XP_SDOTSP)

void tvm_pulp_attention_small_heads(const struct tvm_pulp_attention_core *c, uint8_t *y, uint32_t count) {
  if (c->args->probability) {
    products_looked_up(c, y, count);
  } else {
    products(c, y, count);
  }
}
