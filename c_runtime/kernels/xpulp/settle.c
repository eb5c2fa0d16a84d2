/* SPDX-License-Identifier: Apache-2.0
 *
 * Words are compared; of a hundred elements about one is open. What makes its sum is little code, because it is seldom
 * at hand. */
#include "tvm_pulp/plain/settle.h"
#include "tvm_pulp/xpulp.h"

/* Words of a turn: as many as registers hold of both. */
enum { TURN = 8 };

#define DOTS(DOT)                                                                                               \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[a]", 4, "%[x]") XP_LW("%[b]", 4, "%[w]") "nop\n"           \
                       XP_LOOP_END DOT("%[sum]", "%[a]", "%[b]") XP_END                                         \
                   : [x] "+r"(x), [w] "+r"(weight), [sum] "+r"(sum), [a] "=&r"(a), [b] "=&r"(b)                 \
                   : [n] "r"(p->depth >> 2)                                                                     \
                   : "memory")

/* Products of all inputs of a pixel; words need not be aligned. */
TVM_PULP_XP int32_t pixel_sum(const struct tvm_pulp_settle_args *p, const uint8_t *x, uint32_t channel) {
  const int8_t *weight = p->weight + channel * p->depth;
  int32_t sum = 0, a, b;
  XP_BY_SIGN(p->x_type, DOTS(XP_SDOTSP), DOTS(XP_SDOTUSP));
  return sum;
}

#define LINE(LOAD)                                                                                                   \
  LOAD("%[a]", "%[s]", "%[x]") LOAD("%[b]", "%[s]", "%[x]") LOAD("%[c]", "%[s]", "%[x]") XP_LB("%[d]", 1, "%[w]")   \
  XP_LB("%[e]", 1, "%[w]") XP_LB("%[f]", 1, "%[w]") XP_MAC("%[sum]", "%[a]", "%[d]") XP_MAC("%[sum]", "%[b]", "%[e]") \
  XP_MAC("%[sum]", "%[c]", "%[f]")
#define NEXT "add %[x],%[x],%[l]\n"
#define TAPS(LOAD)                                                                                                   \
  __asm__ volatile(XP_BEGIN LINE(LOAD) NEXT LINE(LOAD) NEXT LINE(LOAD) XP_END                                       \
                   : [x] "+r"(x), [w] "+r"(weight), [sum] "+r"(sum), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c),       \
                     [d] "=&r"(d), [e] "=&r"(e), [f] "=&r"(f)                                                        \
                   : [s] "r"(p->x_stride), [l] "r"(p->x_line_stride - 3u * p->x_stride)                             \
                   : "memory")

static __attribute__((noinline)) int32_t edge_sum(const struct tvm_pulp_settle_args *p,
                                                  const struct tvm_pulp_open_row *at, uint32_t channel) {
  return tvm_pulp_taps_sum(p, at, channel);
}

/* Nine products of a channel. */
TVM_PULP_XP int32_t taps_sum(const struct tvm_pulp_settle_args *p, const struct tvm_pulp_open_row *at, uint32_t channel) {
  if (at->line + 2u >= p->x_height || at->column + 2u >= p->x_width || (int32_t)(at->line | at->column) < 0) {
    return edge_sum(p, at, channel);
  }
  const int8_t *weight = p->weight + 9u * channel;
  const uint8_t *x = at->x + channel;
  int32_t sum = 0, a, b, c, d, e, f;
  XP_BY_SIGN(p->x_type, TAPS(XP_LBR), TAPS(XP_LBUR));
  return sum;
}

/* From one row of the result to that of the byte `index`. */
TVM_PULP_XP void advance(const struct tvm_pulp_settle_args *p, struct tvm_pulp_open_row *at, uint32_t index) {
  uint32_t rows = 0, begin = at->begin, column = at->column;
  for (; index - begin >= p->columns; begin += p->columns) ++rows;
  if (rows == 0u) return;
  at->begin = begin;
  at->x += rows * p->x_stride;
  for (column += rows; (int32_t)(column + p->pad_left - p->width) >= 0; column -= p->width) {
    at->x += p->x_line_stride - p->width * p->x_stride;
    ++at->line;
  }
  at->column = column;
}

/* The open elements of a word that begins at byte `index` and whose bounds differ in the bits `open`; functions of
 * their own, which so save few registers. */
#define SETTLE_WORD(SUM)                                                                                    \
  advance(p, at, index);                                                                                    \
  do {                                                                                                      \
    const uint32_t byte = (uint32_t)tvm_pulp_xp_ff1((int32_t)open) >> 3, channel = index + byte - at->begin; \
    p->y[index + byte] = tvm_pulp_settled(p, SUM, channel);                                                 \
    open &= ~(0xffu << (8u * byte));                                                                        \
  } while (open)

static __attribute__((noinline)) void settle_pixel(const struct tvm_pulp_settle_args *p, struct tvm_pulp_open_row *at,
                                                   uint32_t index, uint32_t open) {
  SETTLE_WORD(pixel_sum(p, at->x, channel));
}

static __attribute__((noinline)) void settle_taps(const struct tvm_pulp_settle_args *p, struct tvm_pulp_open_row *at,
                                                  uint32_t index, uint32_t open) {
  SETTLE_WORD(taps_sum(p, at, channel));
}

TVM_PULP_KERNEL(settle) {
  const struct tvm_pulp_range range = tvm_pulp_share_words(args->rows * args->columns, core, cores);
  struct tvm_pulp_open_row at = tvm_pulp_open_row(args, range.begin / args->columns);
  const uint32_t *y = (const uint32_t *)(const void *)(args->y + range.begin), *end = y + ((range.end - range.begin) >> 2);
  const uint32_t *upper = (const uint32_t *)(const void *)(args->upper + range.begin);
  void (*const settle_word)(const struct tvm_pulp_settle_args *, struct tvm_pulp_open_row *, uint32_t, uint32_t) =
      args->kernel == 1u ? settle_pixel : settle_taps;
  uint32_t index = range.begin, a[TURN], b[TURN];
  for (; y + TURN <= end; y += TURN, upper += TURN, index += 4u * TURN) {
    for (uint32_t j = 0; j < TURN; ++j) a[j] = y[j];
    for (uint32_t j = 0; j < TURN; ++j) b[j] = upper[j];
    for (uint32_t j = 0; j < TURN; ++j) {
      if (__builtin_expect(a[j] != b[j], 0)) settle_word(args, &at, index + 4u * j, a[j] ^ b[j]);
    }
  }
  for (; y < end; ++y, ++upper, index += 4u) {
    if (*y != *upper) settle_word(args, &at, index, *y ^ *upper);
  }
}
