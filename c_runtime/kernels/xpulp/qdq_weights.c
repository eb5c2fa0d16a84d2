/* SPDX-License-Identifier: Apache-2.0
 *
 * Some rows at a time go through three loops over the keys, four at a time, so that the instructions of each stay in the
 * private cache: scores, exponentials, weights. What fills up the last four keys repeats the first key of the row. */
#include "tvm_pulp/elements.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/real.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

enum { BATCH = 8 };
#define NOINLINE __attribute__((noinline))
#define EACH(OP) OP("%[v0]", "%[f0]", "0") OP("%[v1]", "%[f1]", "1") OP("%[v2]", "%[f2]", "2") OP("%[v3]", "%[f3]", "3")
#define LOAD(v, f, i) XP_LW(v, 4, "%[x]")
#define SHIFT(v, f, i) XP_ADDNR(v, "%[a]", "%[s]")
#define REAL(v, f, i) "fcvt.s.w " f "," v "\n"
#define SCALE(v, f, i) "fmul.s " f "," f ",%[k]\n"
#define ROUND(v, f, i) "fcvt.w.s " v "," f ",rne\n"
#define CLIP(v, f, i) XP_CLIPR(v, v, "%[h]")
#define CLASS(v, f, i) XP_LBU("%[c]", 1, "%[m]") "slli %[c],%[c],9\nadd " v "," v ",%[c]\n"
#define LOOK_UP(v, f, i) XP_LBUX(v, v, "%[t]")
#define LIMIT(v, f, i) XP_MIN(v, v, "%[h]")
#define PACK XP_PACKLO("%[v0]", "%[v1]", "%[v0]") XP_PACKHI("%[v0]", "%[v3]", "%[v2]")
#define FOUR XP_FOUR("=&r", v)
#define FOUR_REALS , XP_FOUR("=&f", f)

/* Rows that go through a loop one after the other. */
struct rows {
  int32_t *x;
  uint8_t *y;
  int32_t *exponentials;
  uint32_t count, head, query;
  int32_t bests[BATCH];
  float factors[BATCH];
};

static int32_t largest_byte(int32_t word) {
  int32_t other = (int32_t)((uint32_t)word >> 16);
  __asm__(XP_BEGIN XP_MAXU4("%[w]", "%[w]", "%[o]") "srli %[o],%[w],8\n" XP_MAXU4("%[w]", "%[w]", "%[o]") XP_END
          : [w] "+r"(word), [o] "+r"(other));
  return word & 0xff;
}

/* `best` becomes the largest of each of the four bytes of a word. */
#define SCORES(LOGITS, CLASSES, REALS, ...)                                                                     \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") EACH(LOAD) LOGITS EACH(CLIP) CLASSES EACH(LOOK_UP) PACK \
                       XP_MAXU4("%[b]", "%[b]", "%[v0]") XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END \
                   : [x] "+r"(x), [y] "+r"(y), [m] "+r"(mask), [b] "+r"(best), [c] "=&r"(c), FOUR REALS          \
                   : [n] "r"(n), [h] "r"(255), [t] "r"(table), __VA_ARGS__                                      \
                   : "memory")
#define BY_SHIFT(CLASSES) SCORES(EACH(SHIFT), CLASSES, , [a] "r"(add), [s] "r"(shift))
#define BY_SCALE(CLASSES) SCORES(EACH(REAL) EACH(SCALE) EACH(ROUND), CLASSES, FOUR_REALS, [k] "f"(scale))
/* Scores of all rows, in y, and the best of each; pointers move on. */
#define EACH_ROW(ROW)                                                        \
  for (uint32_t i = 0; i < r->count; ++i) {                                  \
    int32_t best = 0, c;                                                     \
    for (uint32_t key = args->keys; key < 4u * n; ++key) x[key] = x[0];      \
    ROW;                                                                     \
    r->bests[i] = largest_byte(best);                                        \
  }
#define EACH_MASKED_ROW(ROW)                                                                            \
  EACH_ROW(mask = args->mask + r->head * args->mask_head_stride + r->query * args->mask_stride; ROW;    \
           if (++r->query == args->queries) { r->query = 0; ++r->head; })

static NOINLINE void shifted_scores(const struct tvm_pulp_qdq_weights_args *args, struct rows *r) {
  const uint8_t *table = args->table + 256, *mask = args->mask;
  const uint32_t n = args->stride >> 2, shift = args->shift;
  int32_t *x = r->x, add = args->add, v0, v1, v2, v3;
  uint8_t *y = r->y;
  if (mask) {
    EACH_MASKED_ROW(BY_SHIFT(EACH(CLASS)))
  } else {
    EACH_ROW(BY_SHIFT(""))
  }
}

static NOINLINE void scaled_scores(const struct tvm_pulp_qdq_weights_args *args, struct rows *r) {
  const uint8_t *table = args->table + 256, *mask = args->mask;
  const uint32_t n = args->stride >> 2;
  int32_t *x = r->x;
  uint8_t *y = r->y;
  const float scale = args->reals[0];
#if defined(__riscv_flen)
  int32_t v0, v1, v2, v3;
  float f0, f1, f2, f3;
  if (mask) {
    EACH_MASKED_ROW(BY_SCALE(EACH(CLASS)))
  } else {
    EACH_ROW(BY_SCALE(""))
  }
#else
#define BY_FUNCTION                                                          \
  for (c = 0; c < (int32_t)(4u * n); ++c, ++x, ++y) {                          \
    int32_t logit = tvm_pulp_round_within((float)*x * scale, -256, 255);     \
    *y = table[logit + (mask ? 512 * mask[c] : 0)];                          \
    best = tvm_pulp_max(best, *y);                                           \
  }
  if (mask) {
    EACH_MASKED_ROW(BY_FUNCTION)
  } else {
    EACH_ROW(BY_FUNCTION)
  }
#endif
}

/* A byte of a word times four: the address of its exponential. */
#define ADDRESS(v, f, i) XP_DOTUP(v, "%[u4]", "%[m" i "]")
#define EXPONENTIAL(v, f, i) XP_LWX(v, v, "%[t]")
#define ADD(v, f, i) "add %[s],%[s]," v "\n"

/* Exponentials of rows and the factors of their weights. */
static NOINLINE void exponentials(const struct tvm_pulp_qdq_weights_args *args, struct rows *r) {
  const uint32_t n = args->stride >> 2;
  const int32_t more = (int32_t)(args->stride - args->keys);
  const uint8_t *u = r->y;
  const float gain = args->reals[1];
  int32_t *e = r->exponentials, four, v0, v1, v2, v3;
  for (uint32_t i = 0; i < r->count; ++i) {
    const int32_t *table = args->exponential + 255 - r->bests[i], *first = e;
    int32_t total = 0;
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[u4]", 4, "%[u]") EACH(ADDRESS) EACH(EXPONENTIAL) EACH(ADD)
                             XP_SW("%[v0]", 4, "%[e]") XP_SW("%[v1]", 4, "%[e]") XP_SW("%[v2]", 4, "%[e]")
                                 XP_LOOP_END XP_SW("%[v3]", 4, "%[e]") XP_END
                     : [u] "+r"(u), [e] "+r"(e), [s] "+r"(total), [u4] "=&r"(four), FOUR
                     : [n] "r"(n), [t] "r"(table), [m0] "r"(4), [m1] "r"(4 << 8), [m2] "r"(4 << 16), [m3] "r"(4 << 24)
                     : "memory");
    r->factors[i] = gain / (float)(total - more * *first);
  }
}

#define WEIGHTS(LIMITS)                                                                                     \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") EACH(LOAD) EACH(REAL) EACH(SCALE) EACH(ROUND) LIMITS PACK         \
                       XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END                                         \
                   : [y] "+r"(y), [x] "+r"(e), FOUR FOUR_REALS                                              \
                   : [n] "r"(n), [k] "f"(factor), [h] "r"(high)                                             \
                   : "memory")

static NOINLINE void weights(const struct tvm_pulp_qdq_weights_args *args, struct rows *r) {
  const uint32_t n = args->stride >> 2;
  const int32_t more = (int32_t)(args->stride - args->keys), high = args->probability_high, *e = r->exponentials;
  /* No exponential is larger than their sum. */
  const uint32_t may_exceed = args->reals[1] > (float)high;
  uint8_t *y = r->y;
  for (uint32_t i = 0; i < r->count; ++i) {
    const float factor = r->factors[i];
#if defined(__riscv_flen)
    int32_t v0, v1, v2, v3;
    float f0, f1, f2, f3;
    if (may_exceed) {
      WEIGHTS(EACH(LIMIT));
    } else {
      WEIGHTS("");
    }
#else
    const int32_t limit = may_exceed ? high : 255;
    for (uint32_t left = 4u * n; left > 0u; --left) *y++ = (uint8_t)tvm_pulp_round_within((float)*e++ * factor, 0, limit);
#endif
    for (int32_t behind = -more; behind < 0; ++behind) y[behind] = 0;
  }
}

TVM_PULP_KERNEL(qdq_weights) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  if (range.begin == range.end) return;
  uint32_t stride = args->stride, batch = 1;
  struct rows r;
  r.x = args->x + range.begin * stride;
  r.y = args->y + range.begin * stride;
  r.exponentials = (int32_t *)(void *)(args->scratch + core * args->scratch_stride);
  r.head = 0;
  r.query = range.begin;
  while (batch < BATCH && (batch + 1u) * 4u * stride <= args->scratch_stride) ++batch;
  for (; r.query >= args->queries; ++r.head) r.query -= args->queries;
  for (uint32_t left = range.end - range.begin; left > 0u; left -= r.count) {
    r.count = left < batch ? left : batch;
    if (args->shift) {
      shifted_scores(args, &r);
    } else {
      scaled_scores(args, &r);
    }
    exponentials(args, &r);
    weights(args, &r);
    r.x += r.count * stride;
    r.y += r.count * stride;
  }
}
