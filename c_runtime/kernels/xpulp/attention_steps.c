/* SPDX-License-Identifier: Apache-2.0 */
#include "attention_steps.h"

#include "softmax_row.h"
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
      : [q] "+r"(q), XP_FOUR("+r", k), XP_FOUR_OF("=&r", v, v), [x] "=&r"(x), [w] "=&r"(w)
      : [n] "r"(words)
      : "memory");
  for (uint32_t j = 0; j < 4u; ++j) {
    v[j] = tvm_pulp_xp_add_shift((int32_t)((uint32_t)v[j] * (uint32_t)r->mul[0]), r->add[0], r->shift);
    v[j] = tvm_pulp_xp_clipr(v[j], 127);
    if (args->table) v[j] = args->table[v[j] + 128] - 128;
  }
  int32_t word = tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, v[1], v[0]), v[3], v[2]) ^ FLIP;
  return word & (int32_t)(0xffffffffu >> (8u * (4u - count)));
}

/* Returns the largest of each lane. */
static int32_t logits_of_query(const struct tvm_pulp_attention_args *args, const int8_t *q, const int8_t *k,
                               const int8_t *mask, uint8_t *y) {
  uint32_t left = args->keys;
  int32_t best = 0;
  while (left > 0u) {
    uint32_t count = left < 4u ? left : 4u;
    int32_t logits = few_logits(args, q, k, count);
    if (mask) {
      logits = tvm_pulp_masked(logits, mask);
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

void tvm_pulp_attention_logits(struct tvm_pulp_attention_core *c, const int8_t *q, const int8_t *k, const int8_t *mask,
                               uint32_t count) {
  const struct tvm_pulp_attention_args *args = c->args;
  uint8_t *y = c->logits;
  for (uint32_t i = 0; i < count; ++i, q += args->q_stride, y += c->padded) {
    c->best[i] = logits_of_query(args, q, k, mask ? mask + i * args->mask_stride : 0, y);
  }
}

void tvm_pulp_attention_exponentials(struct tvm_pulp_attention_core *c, uint32_t count) {
  const uint32_t *table = c->args->exponential + 255;
  const uint8_t *logits = c->logits;
  uint32_t *e = c->exponentials, keys = c->args->keys, largest = *table;
  for (uint32_t i = 0; i < count; ++i, logits += c->padded, e += c->padded) {
    uint32_t sum = tvm_pulp_exponentials_unsigned(logits, keys, table - tvm_pulp_largest_byte(c->best[i]), e);
    /* What fills up the last word has no weight; its quotient must still be an index. */
    for (uint32_t key = keys; key < c->padded; ++key) e[key] = 0;
    c->reciprocal[i] = tvm_pulp_reciprocal_up_to(largest, (sum - keys) * c->inverse);
  }
}
