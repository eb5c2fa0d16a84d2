/* SPDX-License-Identifier: Apache-2.0
 *
 * Exponentials of a head in the scratch area, then eight elements of the values at a time. Where words hold four keys
 * of an element, a word of weights goes with each; where rows lie behind each other, two keys in every step: a word of
 * weights as halves, e0 0 e1 0, picks the even elements of two rows whose halves were put together, and the same word a
 * byte further up the odd ones. */
#include "past_logits.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

/* Exponentials at `e`; returns their sum. Each step adds what the step before it has looked up. */
#define EXPONENTIALS(name, type, STORE)                                                                             \
  static inline uint32_t name(const int32_t *logits, uint32_t count, int32_t largest, const uint8_t *table, type *e) { \
    uint32_t total = 0, v = 0;                                                                                      \
    int32_t x, d;                                                                                                   \
    if (count == 0u) return 0;                                                                                      \
    __asm__ volatile(XP_LW("%[x]", 4, "%[l]") XP_BEGIN XP_LOOP("%[n]") "sub %[d],%[b],%[x]\n"                       \
                         XP_MIN("%[d]", "%[d]", "%[c]") "add %[t],%[t],%[v]\n" XP_LBUX("%[v]", "%[d]", "%[table]")  \
                             XP_LW("%[x]", 4, "%[l]") XP_LOOP_END STORE XP_END                                      \
                     : [l] "+r"(logits), [e] "+r"(e), [t] "+r"(total), [v] "+r"(v), [x] "=&r"(x), [d] "=&r"(d)      \
                     : [n] "r"(count), [b] "r"(largest), [c] "r"(255), [table] "r"(table)                           \
                     : "memory");                                                                                   \
    return total + v;                                                                                               \
  }
EXPONENTIALS(half_exponentials, uint16_t, XP_SH("%[v]", 2, "%[e]"))
EXPONENTIALS(byte_exponentials, uint8_t, XP_SB("%[v]", 1, "%[e]"))

/* Elements 0 and 1 of two rows from their lower halves in u, elements 2 and 3 from the upper ones in v. */
#define FOUR_DOTS(a0, a1, a2, a3, u, v)                                                                    \
  XP_SDOTUSP(a0, "%[w]", u) XP_SDOTUSP(a1, "%[x]", u) XP_SDOTUSP(a2, "%[w]", v) XP_SDOTUSP(a3, "%[x]", v)

/* Runs LOOP over pairs of rows, and over the last row, with a weight of 0 for its copy, where they are odd. */
#define OVER_ROWS(LOOP)                                                   \
  uint32_t n = count >> 1, odd = count & 1u, stride = 2u * past_stride;   \
  const int8_t *p = rows, *r = rows + past_stride;                        \
  for (;;) {                                                              \
    if (n != 0u) LOOP;                                                    \
    if (odd == 0u) break;                                                 \
    n = 1;                                                                \
    odd = 0;                                                              \
    r = p;                                                                \
    /* One copy of the loop only: code is cold. */                        \
    __asm__("" : "+r"(n), "+r"(odd));                                     \
  }

static inline void store_four(int32_t *y, int32_t s0, int32_t s1, int32_t s2, int32_t s3) {
  y[0] = s0;
  y[1] = s1;
  y[2] = s2;
  y[3] = s3;
}

static inline void sums_of_eight(const int8_t *rows, uint32_t past_stride, uint32_t count, const uint16_t *e,
                                 int32_t *y) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0, w, x, u, v0, v1;
  OVER_ROWS(__asm__ volatile(
      XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w]", 4, "%[e]") "lw %[v0],4(%[p])\nlw %[v1],4(%[r])\n"
          XP_LWR("t0", "%[s]", "%[p]") XP_LWR("t1", "%[s]", "%[r]") "slli %[x],%[w],8\n"
              XP_PACK_H("%[u]", "%[v1]", "%[v0]") XP_SHUFFLE2_H("%[v0]", "%[v1]", "%[upper]")
                  FOUR_DOTS("%[s4]", "%[s5]", "%[s6]", "%[s7]", "%[u]", "%[v0]") XP_PACK_H("%[u]", "t1", "t0")
                      XP_SHUFFLE2_H("t0", "t1", "%[upper]") XP_SDOTUSP("%[s0]", "%[w]", "%[u]")
                          XP_SDOTUSP("%[s1]", "%[x]", "%[u]") XP_SDOTUSP("%[s2]", "%[w]", "t0") XP_LOOP_END
                              XP_SDOTUSP("%[s3]", "%[x]", "t0") XP_END
      : [e] "+r"(e), [p] "+r"(p), [r] "+r"(r), XP_EIGHT("+r", s), [w] "=&r"(w), [x] "=&r"(x), [u] "=&r"(u),
        XP_TWO("=&r", v)
      : [n] "r"(n), [s] "r"(stride), [upper] "r"(0x00030001)
      : "memory", "t0", "t1"))
  store_four(y, s0, s1, s2, s3);
  store_four(y + 4, s4, s5, s6, s7);
}

/* The last elements of a head whose size is no multiple of eight. */
static __attribute__((noinline)) void sums_of_four(const int8_t *rows, uint32_t past_stride, uint32_t count,
                                                   const uint16_t *e, int32_t *y) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, w, x, u, v0, v1;
  OVER_ROWS(__asm__ volatile(
      XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w]", 4, "%[e]") XP_LWR("%[v0]", "%[s]", "%[p]")
          XP_LWR("%[v1]", "%[s]", "%[r]") "slli %[x],%[w],8\n" XP_PACK_H("%[u]", "%[v1]", "%[v0]")
              XP_SHUFFLE2_H("%[v0]", "%[v1]", "%[upper]") XP_SDOTUSP("%[s0]", "%[w]", "%[u]")
                  XP_SDOTUSP("%[s1]", "%[x]", "%[u]") XP_SDOTUSP("%[s2]", "%[w]", "%[v0]") XP_LOOP_END
                      XP_SDOTUSP("%[s3]", "%[x]", "%[v0]") XP_END
      : [e] "+r"(e), [p] "+r"(p), [r] "+r"(r), XP_FOUR("+r", s), [w] "=&r"(w), [x] "=&r"(x), [u] "=&r"(u),
        XP_TWO("=&r", v)
      : [n] "r"(n), [s] "r"(stride), [upper] "r"(0x00030001)
      : "memory"))
  store_four(y, s0, s1, s2, s3);
}

#define VALUES(into, at) "lw " into "," #at "(%[p])\n"
/* Words of eight elements, `stride` from four keys to the next four. */
static inline void sums_of_eight_words(const int8_t *values, uint32_t stride, uint32_t groups, const uint8_t *e,
                                       int32_t *y) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0, w, v0, v1;
  if (groups != 0u)
    __asm__ volatile(
        XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w]", 4, "%[e]") VALUES("%[v0]", 4) VALUES("%[v1]", 8)
            XP_SDOTUSP("%[s1]", "%[w]", "%[v0]") VALUES("%[v0]", 12) XP_SDOTUSP("%[s2]", "%[w]", "%[v1]")
                VALUES("%[v1]", 16) XP_SDOTUSP("%[s3]", "%[w]", "%[v0]") VALUES("%[v0]", 20)
                    XP_SDOTUSP("%[s4]", "%[w]", "%[v1]") VALUES("%[v1]", 24) XP_SDOTUSP("%[s5]", "%[w]", "%[v0]")
                        VALUES("%[v0]", 28) XP_SDOTUSP("%[s6]", "%[w]", "%[v1]") XP_LWR("%[v1]", "%[s]", "%[p]")
                            XP_SDOTUSP("%[s7]", "%[w]", "%[v0]") XP_LOOP_END XP_SDOTUSP("%[s0]", "%[w]", "%[v1]") XP_END
        : [e] "+r"(e), [p] "+r"(values), XP_EIGHT("+r", s), [w] "=&r"(w), XP_TWO("=&r", v)
        : [n] "r"(groups), [s] "r"(stride)
        : "memory");
  store_four(y, s0, s1, s2, s3);
  store_four(y + 4, s4, s5, s6, s7);
}

/* The last elements of a head whose size is no multiple of eight. */
static __attribute__((noinline)) void sums_of_four_words(const int8_t *values, uint32_t stride, uint32_t groups,
                                                         const uint8_t *e, int32_t *y) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, w, v0, v1;
  if (groups != 0u)
    __asm__ volatile(
        XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w]", 4, "%[e]") VALUES("%[v0]", 4) VALUES("%[v1]", 8)
            XP_SDOTUSP("%[s1]", "%[w]", "%[v0]") VALUES("%[v0]", 12) XP_SDOTUSP("%[s2]", "%[w]", "%[v1]")
                XP_LWR("%[v1]", "%[s]", "%[p]") XP_SDOTUSP("%[s3]", "%[w]", "%[v0]") XP_LOOP_END
                    XP_SDOTUSP("%[s0]", "%[w]", "%[v1]") XP_END
        : [e] "+r"(e), [p] "+r"(values), XP_FOUR("+r", s), [w] "=&r"(w), XP_TWO("=&r", v)
        : [n] "r"(groups), [s] "r"(stride)
        : "memory");
  store_four(y, s0, s1, s2, s3);
}

/* What comes before the values of a head: its results, and what is the same for both layouts. */
struct head {
  int32_t *y;
  const int32_t *scores;
  uint32_t column, own;
  int32_t largest;
};

static inline struct head begin(const struct tvm_pulp_past_mix_args *args, uint32_t number) {
  const uint32_t size = args->size, column = (args->group == 1u ? number : number / args->group) * size;
  const int32_t *scores = args->scores + number * (args->capacity + 1u);
  const int32_t fresh = tvm_pulp_logit(args->q + number * size, args->k + column, size >> 2, args->mul, args->shift);
  const int32_t largest = tvm_pulp_xp_max(scores[args->capacity], fresh);
  const uint32_t own = args->exponential[tvm_pulp_xp_min(largest - fresh, 255)];
  int32_t *y = args->y + number * (size + 2u);
  y[size] = (int32_t)own;
  return (struct head){y, scores, column, own, largest};
}

/* Elements of a head by eights from `at` on, and the last four where there are any. */
#define IN_EIGHTS(EIGHT, FOUR)                      \
  uint32_t at = 0;                                  \
  for (; at + 8u <= size; at += 8u) EIGHT;          \
  if (at < size) FOUR;

TVM_PULP_KERNEL(past_mix) {
  const uint32_t length = (uint32_t)*args->length, size = args->size;
  struct tvm_pulp_range range = tvm_pulp_share(args->heads, core, cores);
  uint16_t *e = (uint16_t *)(void *)(args->scratch + core * args->scratch_stride);
  for (uint32_t number = range.begin; number < range.end; ++number) {
    const struct head head = begin(args, number);
    head.y[size + 1u] = (int32_t)(head.own + half_exponentials(head.scores, length, head.largest, args->exponential, e));
    e[length] = 0;
    const int8_t *rows = args->past_v + head.column;
    IN_EIGHTS(sums_of_eight(rows + at, args->value_stride, length, e, head.y + at),
              sums_of_four(rows + at, args->value_stride, length, e, head.y + at))
  }
}

void tvm_pulp_kernel_past_mix_by_element(const struct tvm_pulp_past_mix_args *args, uint32_t core, uint32_t cores) {
  const uint32_t length = (uint32_t)*args->length, size = args->size, groups = (length + 3u) >> 2;
  struct tvm_pulp_range range = tvm_pulp_share(args->heads, core, cores);
  uint8_t *e = args->scratch + core * args->scratch_stride;
  for (uint32_t number = range.begin; number < range.end; ++number) {
    const struct head head = begin(args, number);
    /* Keys behind the last have no weight. */
    ((uint32_t *)(void *)e)[length >> 2] = 0;
    head.y[size + 1u] = (int32_t)(head.own + byte_exponentials(head.scores, length, head.largest, args->exponential, e));
    const int8_t *values = args->past_v + 4u * head.column;
    IN_EIGHTS(sums_of_eight_words(values + 4u * at, args->value_stride, groups, e, head.y + at),
              sums_of_four_words(values + 4u * at, args->value_stride, groups, e, head.y + at))
  }
}
