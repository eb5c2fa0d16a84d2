/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns at a time, row by row: their multipliers and summands stay in registers, and each scaling multiplies two
 * bytes at once. The loop fits the 64 instructions that a core holds by itself. */
#include "tvm_pulp/plain/add_pairs.h"

#define HALVES 0x00FF00FFu
#define SUM_MASK 0x3FFu
/* All of these are computed before anything behind it: so much lies between a multiplication or a load and its use. */
#define HOLD(a, b) __asm__ volatile("" : "+r"(a), "+r"(b))

/* This core's part of four columns. */
struct part {
  const uint8_t *a, *b;
  uint8_t *y;
  uint32_t stride, rows;
  const int32_t *mul, *add;
  uint32_t step; /* 1: a multiplier and a summand per column */
};

TVM_PULP_INLINE uint32_t clipped(int32_t value, int32_t span) {
  if (__builtin_expect((uint32_t)value > (uint32_t)span, 0)) value = value < 0 ? 0 : span;
  return (uint32_t)value;
}

TVM_PULP_INLINE uint32_t word_at(const uint8_t *place) { return *(const uint32_t *)(const void *)place; }

TVM_PULP_INLINE void split(uint32_t pair[2], uint32_t word, uint32_t flip) {
  word ^= flip;
  pair[0] = word & HALVES;
  pair[1] = word >> 8 & HALVES;
  HOLD(pair[0], pair[1]);
}

TVM_PULP_INLINE uint32_t scaled(uint32_t product, const struct tvm_pulp_pair_scale *s, uint32_t mask) {
  return (product + s->add) >> s->shift & mask;
}

/* What a shift leaves of both halves; bits of the upper one come down above it. */
TVM_PULP_INLINE uint32_t mask_of(const struct tvm_pulp_pair_scale *s) { return (0xFFFFu >> s->shift) * 0x10001u; }

/* f(a) as bytes in the place of the result: two scalings in one loop would be more than a core holds. */
static __attribute__((noinline)) void scale_columns(const struct tvm_pulp_pair_scale *scale, uint32_t flip,
                                                    const struct part *p) {
  const struct tvm_pulp_pair_scale s = *scale;
  const uint32_t mask = mask_of(scale);
  const uint8_t *a = p->a;
  uint8_t *y = p->y;
  for (uint32_t left = p->rows; left > 0u; left--, a += p->stride, y += p->stride) {
    uint32_t pair[2];
    split(pair, word_at(a), flip);
    pair[0] *= s.mul;
    pair[1] *= s.mul;
    HOLD(pair[0], pair[1]);
    *(uint32_t *)(void *)y = (scaled(pair[0], &s, mask) | scaled(pair[1], &s, mask) << 8) ^ flip;
  }
}

TVM_PULP_INLINE void add_columns(const struct tvm_pulp_add_pairs_args *args, const struct part *p, int has_b,
                                 int scales_b) {
  const struct tvm_pulp_pair_scale g = args->g;
  const uint32_t mask = mask_of(&g);
  const uint8_t *a = p->a, *b = p->b;
  uint8_t *y = p->y;
  const int32_t m0 = p->mul[0], m1 = p->mul[p->step], m2 = p->mul[2u * p->step], m3 = p->mul[3u * p->step];
  const int32_t c0 = p->add[0], c1 = p->add[p->step], c2 = p->add[2u * p->step], c3 = p->add[3u * p->step];
  const int32_t shift = args->shift, span = args->span;
  const uint32_t flip = args->flip, stride = p->stride;
  const uint8_t *const last = y + (uintptr_t)(p->rows - 1u) * stride;
  uint32_t word_a = word_at(a), word_b = has_b ? word_at(b) : 0u;
  __asm__ volatile(".p2align 5"); /* a loop that begins with a line fills one line less */
  for (;; y += stride) {
    uint32_t right[2] = {0, 0}, left[2];
    if (has_b) split(right, word_b, flip);
    if (scales_b) {
      right[0] *= g.mul;
      right[1] *= g.mul;
      HOLD(right[0], right[1]);
    }
    split(left, word_a, flip);
    if (scales_b) {
      right[0] = scaled(right[0], &g, mask);
      right[1] = scaled(right[1], &g, mask);
    }
    const uint32_t even = left[0] + right[0], odd = left[1] + right[1];
    int32_t v0 = (int32_t)(even & SUM_MASK) * m0, v1 = (int32_t)(odd & SUM_MASK) * m1;
    HOLD(v0, v1);
    int32_t v2 = (int32_t)(even >> 16) * m2, v3 = (int32_t)(odd >> 16) * m3;
    HOLD(v2, v3);
    if (has_b && y != last) word_b = word_at(b += stride);
    v0 = (v0 + c0) >> shift;
    v1 = (v1 + c1) >> shift;
    HOLD(v0, v1);
    v2 = (v2 + c2) >> shift;
    v3 = (v3 + c3) >> shift;
    HOLD(v2, v3);
    const uint32_t r0 = clipped(v0, span), r1 = clipped(v1, span), r2 = clipped(v2, span), r3 = clipped(v3, span);
    if (y != last) word_a = word_at(a += stride);
    *(uint32_t *)(void *)y = (r0 | r1 << 8 | r2 << 16 | r3 << 24) ^ flip;
    if (y == last) return;
  }
}

TVM_PULP_INLINE int keeps(const struct tvm_pulp_pair_scale *s) {
  return (s->mul == 1u) & (s->shift == 0u) & (s->add == 0u);
}

static __attribute__((noinline)) void add_part(const struct tvm_pulp_add_pairs_args *args, struct part p) {
  if (!args->b) {
    add_columns(args, &p, 0, 0);
    return;
  }
  if (!keeps(&args->f)) {
    scale_columns(&args->f, args->flip, &p);
    p.a = p.y;
  }
  if (keeps(&args->g)) {
    add_columns(args, &p, 1, 0);
  } else {
    add_columns(args, &p, 1, 1);
  }
}

/* Cores share rows of four columns, one four after the other. */
static void add_fours(const struct tvm_pulp_add_pairs_args *args, uint32_t rows, uint32_t fours, uint32_t stride,
                      uint32_t core, uint32_t cores) {
  const struct tvm_pulp_range share = tvm_pulp_share(rows * fours, core, cores);
  uint32_t four = share.begin / rows, row = share.begin - four * rows;
  for (uint32_t left = share.end - share.begin; left > 0u; four++, row = 0) {
    const uint32_t count = rows - row < left ? rows - row : left, channel = args->per_channel ? 4u * four : 0u;
    const uint32_t at = row * stride + 4u * four;
    const struct part part = {args->a + at, args->b ? args->b + at : args->b, args->y + at,      stride, count,
                              args->mul + channel, args->add + channel,       args->per_channel};
    add_part(args, part);
    left -= count;
  }
}

TVM_PULP_KERNEL(add_pairs) {
  const uint32_t columns = args->columns, rows = args->rows, stride = args->y_stride;
  const uintptr_t places = (uintptr_t)args->a | (uintptr_t)args->b | (uintptr_t)args->y;
  if (rows == 1u && !args->per_channel && (places & 3u) == 0u) {
    /* One long row is many rows of four. */
    const uint32_t words = columns >> 2;
    if (words != 0u) add_fours(args, words, 1, 4, core, cores);
    for (uint32_t column = 4u * words; core == 0u && column < columns; column++) tvm_pulp_add_pairs_one(args, 0, column);
    return;
  }
  if (((places | stride | columns) & 3u) != 0u || args->a_stride != stride || (args->b && args->b_stride != stride)) {
    tvm_pulp_plain_add_pairs(args, core, cores);
    return;
  }
  add_fours(args, rows, columns >> 2, stride, core, cores);
}
