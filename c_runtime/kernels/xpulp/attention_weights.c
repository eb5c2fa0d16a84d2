/* SPDX-License-Identifier: Apache-2.0
 *
 * Some rows at a time go through every loop, so that its instructions stay in the private cache. */
#include "attention_four_code.h"
#include "attention_pairs.h"
#include "tile.h"
#include "translate.h"
#include "tvm_pulp/work_share.h"

enum { BATCH = 8 };

struct rows {
  const struct tvm_pulp_attention_weights_args *args;
  const int8_t *probability; /* a copy of this core: most weights are 0, and all cores would wait for one bank */
  uint8_t *exponentials;
  uint32_t room; /* of the exponentials of a row */
};

/* A row as the softmax takes it. Behind the last key there is nothing to read. */
static void prepare(const struct tvm_pulp_attention_weights_args *args, const uint8_t *x, const int8_t *mask,
                    uint8_t *y) {
  uint32_t whole = args->keys & ~3u;
  if (whole) {
    if (args->table) {
      tvm_pulp_translate(x, args->table, y, whole >> 2);
    } else {
      tvm_pulp_copy_words(y, x, whole >> 2);
    }
  }
  if (mask) {
    for (uint32_t key = 0; key < whole; key += 4u) {
      int32_t *word = (int32_t *)(void *)(y + key);
      *word = tvm_pulp_masked(*word, mask + key);
    }
  }
  for (uint32_t key = whole; key < args->keys; ++key) {
    int32_t logit = args->table ? args->table[x[key]] : x[key];
    y[key] = (uint8_t)tvm_pulp_xp_clipur(logit + (mask ? mask[key] : 0), 255);
  }
  /* Even the exponential of what fills up the last word must be one of the table. */
  tvm_pulp_clear_rest(args, y);
}

/* The factor of a row's weights. */
static inline uint32_t exponentials(const struct rows *r, const uint8_t *x, uint16_t *e) {
  const struct tvm_pulp_attention_weights_args *args = r->args;
  uint32_t sum = 0, v0, v1, v2, v3, w, n = args->stride >> 2;
  const uint16_t *table = args->small_exponential + 255 - tvm_pulp_maximum_unsigned(x, args->keys);
  EXPONENTIALS_OF("", LOAD_LOGITS, "");
  for (uint32_t over = args->stride - args->keys; over != 0u; --over) sum -= *--e;
  return tvm_pulp_weight_factor(args->levels - 1u, sum);
}

#define WEIGHTS_OF_ROW(LOOK_UP)                                                                                  \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") WEIGHTS("%[e]", "%[f]", "%[h]") LOOK_UP PACKED("%[t0]") XP_LOOP_END   \
                       XP_SW("%[t0]", 4, "%[y]") XP_END                                                          \
                   : [e] "+r"(e), [y] "+r"(y), XP_FOUR("=&r", t), XP_TWO("=&r", x)                               \
                   : [n] "r"(n), [f] "r"(LOWER_HALVES(m)), [h] "r"(UPPER_HALVES(m)), [p] "r"(probability)         \
                   : "memory")

static inline void weights(const struct rows *r, const uint16_t *e, uint32_t m, uint8_t *y) {
  uint32_t t0, t1, t2, t3, x0, x1, n = r->args->stride >> 2;
  const int8_t *probability = r->probability;
  if (probability) {
    WEIGHTS_OF_ROW(LOOKUP);
  } else {
    WEIGHTS_OF_ROW("");
  }
}

static __attribute__((noinline)) void small_rows(const struct rows *r, const uint8_t *x, uint8_t *y, uint32_t count) {
  uint32_t factors[BATCH], stride = r->args->stride;
  for (uint32_t i = 0; i < count; ++i) {
    factors[i] = exponentials(r, x + i * stride, (uint16_t *)(void *)(r->exponentials + i * r->room));
  }
  for (uint32_t i = 0; i < count; ++i) {
    weights(r, (const uint16_t *)(const void *)(r->exponentials + i * r->room), factors[i], y + i * stride);
    tvm_pulp_clear_rest(r->args, y + i * stride);
  }
}

static __attribute__((noinline)) void large_rows(const struct rows *r, const uint8_t *x, uint8_t *y, uint32_t count) {
  const struct tvm_pulp_attention_weights_args *args = r->args;
  struct tvm_pulp_reciprocal reciprocals[BATCH];
  uint32_t keys = args->keys, stride = args->stride, inverse = tvm_pulp_exact_inverse(args->levels - 1u);
  for (uint32_t i = 0; i < count; ++i) {
    const uint8_t *row = x + i * stride;
    const uint32_t *table = args->exponential + 255 - tvm_pulp_maximum_unsigned(row, keys);
    uint32_t sum = tvm_pulp_exponentials_unsigned(row, keys, table, (uint32_t *)(void *)(r->exponentials + i * r->room));
    reciprocals[i] = tvm_pulp_reciprocal_up_to(args->exponential[255], (sum - keys) * inverse);
  }
  for (uint32_t i = 0; i < count; ++i, y += stride) {
    tvm_pulp_normalize((const uint32_t *)(const void *)(r->exponentials + i * r->room), y, keys, reciprocals[i]);
    if (r->probability) {
      tvm_pulp_clear_rest(args, y);
      tvm_pulp_translate(y, (const uint8_t *)r->probability, y, stride >> 2);
    }
    tvm_pulp_clear_rest(args, y);
  }
}

static __attribute__((noinline)) void any_rows(const struct tvm_pulp_attention_weights_args *args, uint32_t core,
                                               uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  if (range.begin == range.end) return;
  uint8_t *scratch = args->scratch + core * args->scratch_stride;
  struct rows r = {args, args->probability, scratch, (args->small_exponential ? 2u : 4u) * args->stride};
  uint32_t room = args->scratch_stride, batch = 1, stride = args->stride;
  if (r.probability) {
    room -= 256u;
    r.exponentials += 256;
    tvm_pulp_copy_words(scratch, r.probability, 64);
    r.probability = (const int8_t *)scratch;
  }
  while (batch < BATCH && (batch + 1u) * r.room <= room) ++batch;
  uint32_t changes = args->table || args->mask || args->keys != stride;
  for (uint32_t row = range.begin; row < range.end; row += batch) {
    uint32_t count = range.end - row < batch ? range.end - row : batch;
    const uint8_t *x = args->x + row * stride;
    uint8_t *y = args->y + row * stride;
    if (changes) {
      for (uint32_t i = 0; i < count; ++i) {
        const int8_t *mask = args->mask ? args->mask + (row + i) % args->queries * args->mask_stride : 0;
        prepare(args, x + i * stride, mask, y + i * stride);
      }
      x = y;
    }
    if (args->small_exponential) {
      small_rows(&r, x, y, count);
    } else {
      large_rows(&r, x, y, count);
    }
  }
}

TVM_PULP_KERNEL(attention_weights) {
  if (args->small_exponential && !args->table && (args->mask || args->step > 1u)) {
    tvm_pulp_attention_pairs(args, core, cores);
  } else {
    any_rows(args, core, cores);
  }
}
