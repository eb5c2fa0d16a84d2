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

/* Subtracts what the mask takes, down to 0. */
static int32_t apply_mask(int32_t word, const int8_t *mask) {
  int32_t drop = tvm_pulp_xp_sub4(0, tvm_pulp_xp_word(mask));
  return tvm_pulp_xp_sub4(word, tvm_pulp_xp_minu4(drop, word));
}

/* Four keys of a head of four elements. TABLE and MASK are text or nothing. */
#define EACH(OP) OP("%[v0]") OP("%[v1]") OP("%[v2]") OP("%[v3]")
#define KEY(v) XP_LWR(v, "%[s]", "%[k]")
#define DOT(v) XP_DOTSP(v, v, "%[q]")
#define SCALE(v) "mul " v "," v ",%[m]\n"
#define ADD(v) XP_ADDNR(v, "%[a]", "%[sh]")
#define CLIP(v) XP_CLIPR(v, v, "%[h]")
#define LOOK(v) XP_LBX(v, v, "%[tb]")
#define MASK_LOAD XP_LW("%[t]", 4, "%[ma]")
#define MASK_APPLY XP_SUB4("%[t]", "x0", "%[t]") XP_MINU4("%[t]", "%[t]", "%[v0]") XP_SUB4("%[v0]", "%[v0]", "%[t]")
#define LOOP(TABLE, LOAD_MASK, MASK)                                                                        \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") EACH(KEY) EACH(DOT) EACH(SCALE) EACH(ADD) EACH(CLIP) TABLE LOAD_MASK \
                       XP_PACKLO("%[v0]", "%[v1]", "%[v0]") XP_PACKHI("%[v0]", "%[v3]", "%[v2]")            \
                   "xor %[v0],%[v0],%[f]\n" MASK XP_MAXU4("%[b]", "%[b]", "%[v0]")                          \
                   XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END                                             \
                   : [k] "+r"(key), [y] "+r"(y), [b] "+r"(best), [ma] "+r"(drop), [v0] "=&r"(v0), [v1] "=&r"(v1), \
                     [v2] "=&r"(v2), [v3] "=&r"(v3), [t] "=&r"(t)                                           \
                   : [n] "r"(n), [q] "r"(word), [s] "r"(stride), [m] "r"(mul), [a] "r"(add), [sh] "r"(shift), \
                     [h] "r"(127), [tb] "r"(table), [f] "r"(FLIP)                                           \
                   : "memory")

/* What is left of the keys, up to all of them. */
static int32_t rest_of_logits(const struct tvm_pulp_attention_args *args, const int8_t *q, const int8_t *k,
                              const int8_t *mask, uint8_t *y, uint32_t left, int32_t best) {
  while (left > 0u) {
    uint32_t count = left < 4u ? left : 4u;
    int32_t logits = few_logits(args, q, k, count);
    if (mask) {
      logits = apply_mask(logits, mask);
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

void tvm_pulp_attention_logits(struct tvm_pulp_attention_core *c, const int8_t *q, const int8_t *k, const int8_t *mask,
                               uint32_t count) {
  const struct tvm_pulp_attention_args *args = c->args;
  const struct tvm_pulp_requant *r = &args->logit_requant;
  uint32_t n = args->size == 4u ? args->keys >> 2 : 0u, stride = args->k_stride;
  int32_t mul = r->mul[0], add = r->add[0], shift = r->shift, v0, v1, v2, v3, t;
  const int8_t *table = args->table + 128;
  uint8_t *row = c->logits;
  for (uint32_t i = 0; i < count; ++i, q += args->q_stride, row += c->padded) {
    const int8_t *key = k, *drop = mask;
    uint8_t *y = row;
    int32_t best = 0, word = tvm_pulp_xp_word(q);
    if (n == 0u) {
      /* only the rest below */
    } else if (args->table) {
      if (mask) {
        LOOP(EACH(LOOK), MASK_LOAD, MASK_APPLY);
      } else {
        LOOP(EACH(LOOK), "", "");
      }
    } else if (mask) {
      LOOP("", MASK_LOAD, MASK_APPLY);
    } else {
      LOOP("", "", "");
    }
    if (args->keys > 4u * n) best = rest_of_logits(args, q, key, drop, y, args->keys - 4u * n, best);
    best = tvm_pulp_xp_maxu4(best, (int32_t)((uint32_t)best >> 16));
    c->best[i] = tvm_pulp_xp_max(best & 0xff, best >> 8 & 0xff);
    if (mask) mask += args->mask_stride;
  }
}

void tvm_pulp_attention_exponentials(struct tvm_pulp_attention_core *c, uint32_t count) {
  const uint32_t *table = c->args->exponential + 255;
  const uint8_t *logits = c->logits;
  uint32_t *e = c->exponentials, keys = c->args->keys;
  for (uint32_t i = 0; i < count; ++i, logits += c->padded, e += c->padded) {
    uint32_t sum = tvm_pulp_exponentials_unsigned(logits, keys, table - c->best[i], e);
    c->reciprocal[i] = tvm_pulp_short_reciprocal((sum - keys) * c->inverse);
  }
}

#define WEIGHT(v) XP_LBX(v, v, "%[p]")
#define PRODUCT(LOOKUP, DOT)                                                                                \
  __asm__ volatile(                                                                                         \
      "li %[a0],0\nli %[a1],0\nli %[a2],0\nli %[a3],0\n" XP_BEGIN XP_LOOP("%[n]") XP_LW("%[v0]", 4, "%[e]")  \
          XP_LW("%[v1]", 4, "%[e]") XP_LW("%[v2]", 4, "%[e]") XP_LW("%[v3]", 4, "%[e]")                     \
      "mulhu %[v0],%[v0],%[m]\nmulhu %[v1],%[v1],%[m]\nmulhu %[v2],%[v2],%[m]\nmulhu %[v3],%[v3],%[m]\n"    \
      "srl %[v0],%[v0],%[s]\nsrl %[v1],%[v1],%[s]\nsrl %[v2],%[v2],%[s]\nsrl %[v3],%[v3],%[s]\n" LOOKUP     \
      XP_PACKLO("%[v0]", "%[v1]", "%[v0]") XP_LW("%[w0]", 4, "%[w]") XP_PACKHI("%[v0]", "%[v3]", "%[v2]")   \
          XP_LW("%[w1]", 4, "%[w]") DOT("%[a0]", "%[v0]", "%[w0]") XP_LW("%[w0]", 4, "%[w]")                \
          DOT("%[a1]", "%[v0]", "%[w1]") XP_LW("%[w1]", 4, "%[w]") DOT("%[a2]", "%[v0]", "%[w0]")           \
          XP_LOOP_END DOT("%[a3]", "%[v0]", "%[w1]") XP_END                                                 \
      : [e] "+r"(e), [w] "+r"(values), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2), [v3] "=&r"(v3),      \
        [w0] "=&r"(w0), [w1] "=&r"(w1), [a0] "=&r"(acc[0]), [a1] "=&r"(acc[1]), [a2] "=&r"(acc[2]),         \
        [a3] "=&r"(acc[3])                                                                                  \
      : [n] "r"(n), [m] "r"(r.multiplier), [s] "r"(r.shift), [p] "r"(c->args->probability)                  \
      : "memory")

void tvm_pulp_attention_small_heads(const struct tvm_pulp_attention_core *c, uint8_t *y, uint32_t count) {
  const struct tvm_pulp_requant *requant = &c->args->requant;
  uint32_t n = c->padded >> 2, v0, v1, v2, v3;
  uint32_t narrow = requant->kind == TVM_PULP_REQUANT_PULP_NARROW && !requant->wide_result;
  const uint32_t *row = c->exponentials;
  for (uint32_t query = 0; query < count; ++query, row += c->padded, y += c->args->y_stride) {
    struct tvm_pulp_reciprocal r = c->reciprocal[query];
    const uint32_t *e = row;
    const int32_t *values = c->values;
    int32_t acc[4], w0, w1;
    if (c->args->probability) {
      PRODUCT(EACH(WEIGHT), XP_SDOTSP);
    } else {
      PRODUCT("", XP_SDOTUSP);
    }
    if (!narrow) {
      for (uint32_t i = 0; i < 4u; ++i) tvm_pulp_finish(requant, y, i, acc[i], 0);
      continue;
    }
    int32_t mul = requant->mul[0], add = requant->add[0];
    for (uint32_t i = 0; i < 4u; ++i) {
      int32_t value = tvm_pulp_xp_add_shift((int32_t)((uint32_t)acc[i] * (uint32_t)mul), add, requant->shift);
      acc[i] = tvm_pulp_xp_min(tvm_pulp_xp_max(value, requant->low), requant->high);
    }
    tvm_pulp_xp_put_word(y, tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, acc[1], acc[0]), acc[3], acc[2]));
  }
}
