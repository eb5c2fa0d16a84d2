/* SPDX-License-Identifier: Apache-2.0
 *
 * Four channels at a time; the last four reach back where channels are not a multiple of four. Work is shared in output
 * pixels and channel groups. */
#include "pool_window.h"
#include "reciprocal.h"
#include "tvm_pulp/plain/pool.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

/* Whether no window leaves the image: then only their first pixels differ. */
static uint32_t all_inside(const struct tvm_pulp_pool_args *a) {
  uint32_t bottom = (a->out_height - 1u) * a->stride_y + (a->kernel_height - 1u) * a->dilation_y;
  uint32_t right = (a->out_width - 1u) * a->stride_x + (a->kernel_width - 1u) * a->dilation_x;
  return a->pad_top == 0u && a->pad_left == 0u && bottom < a->height && right < a->width;
}

static int32_t maximum(const struct window *w, const int8_t *x, uint32_t x_type) {
  const uint32_t is_unsigned = x_type == TVM_PULP_UINT8;
  int32_t best = is_unsigned ? 0 : (int32_t)0x80808080u;
  for (uint32_t row = 0; row < w->rows; ++row, x += w->row_step) {
    const int8_t *at = x;
    for (uint32_t column = 0; column < w->columns; ++column, at += w->column_step) {
      int32_t word = tvm_pulp_xp_word(at);
      best = is_unsigned ? tvm_pulp_xp_maxu4(best, word) : tvm_pulp_xp_max4(best, word);
    }
  }
  return best;
}

/* Sixteen channels, which saves most of the loops' cost; loads and comparisons do not wait for each other. */
#define MAX_LINE(MAX)                                                                                        \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "lw %[a],4(%[at])\nlw %[b],8(%[at])\nlw %[c],12(%[at])\n"        \
                   XP_LWR("%[d]", "%[step]", "%[at]") MAX("%[m1]", "%[m1]", "%[a]") MAX("%[m2]", "%[m2]", "%[b]") \
                   MAX("%[m3]", "%[m3]", "%[c]") XP_LOOP_END MAX("%[m0]", "%[m0]", "%[d]") XP_END            \
                   : [at] "+r"(at), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d), XP_FOUR("+r", m) \
                   : [n] "r"(w->columns), [step] "r"(w->column_step)                                         \
                   : "memory")

static void maximum_of_sixteen(const struct window *w, const int8_t *x, uint32_t x_type, int8_t *y) {
  int32_t m0 = x_type == TVM_PULP_UINT8 ? 0 : (int32_t)0x80808080u, m1 = m0, m2 = m0, m3 = m0, a, b, c, d;
  for (uint32_t row = 0; row < w->rows; ++row, x += w->row_step) {
    const int8_t *at = x;
    XP_BY_SIGN(x_type, MAX_LINE(XP_MAX4), MAX_LINE(XP_MAXU4));
  }
  const int32_t words[4] = {m0, m1, m2, m3};
  for (uint32_t i = 0; i < 4u; ++i) tvm_pulp_xp_put_word(y + 4u * i, words[i]);
}

/* Eight channels: what a core has of the whole image where there are few. */
#define MAX_PAIRS(MAX)                                                                                       \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "lw %[b],4(%[at])\n" XP_LWR("%[a]", "%[step]", "%[at]")          \
                   MAX("%[m1]", "%[m1]", "%[b]") XP_LOOP_END MAX("%[m0]", "%[m0]", "%[a]") XP_END            \
                   : [at] "+r"(at), [a] "=&r"(a), [b] "=&r"(b), XP_TWO("+r", m)                              \
                   : [n] "r"(w->columns), [step] "r"(w->column_step)                                         \
                   : "memory")

static void maximum_of_eight(const struct window *w, const int8_t *x, uint32_t x_type, int8_t *y) {
  int32_t m0 = x_type == TVM_PULP_UINT8 ? 0 : (int32_t)0x80808080u, m1 = m0, a, b;
  for (uint32_t row = 0; row < w->rows; ++row, x += w->row_step) {
    const int8_t *at = x;
    XP_BY_SIGN(x_type, MAX_PAIRS(XP_MAX4), MAX_PAIRS(XP_MAXU4));
  }
  tvm_pulp_xp_put_word(y, m0);
  tvm_pulp_xp_put_word(y + 4, m1);
}

/* Windows of 3 x 3 at every second pixel, all inside: the largest of a column's three values is known from the window
 * before where both have the column. Four channels of a line of results; neighbouring cores take neighbouring words. */
#define MAX_COLUMN(MAX, a, b, c)                                                                               \
  XP_LWR(a, "%[step]", "%[x0]") XP_LWR(b, "%[step]", "%[x1]") XP_LWR(c, "%[step]", "%[x2]") MAX(a, a, b) MAX(a, a, c)
#define MAX_OF_LINE(MAX)                                                                                       \
  __asm__ volatile(XP_BEGIN MAX_COLUMN(MAX, "%[v]", "%[b]", "%[c]") XP_LOOP("%[n]")                            \
                       MAX_COLUMN(MAX, "%[a]", "%[b]", "%[c]") MAX_COLUMN(MAX, "%[d]", "%[b]", "%[c]")         \
                           MAX("%[v]", "%[v]", "%[a]") MAX("%[v]", "%[v]", "%[d]")                             \
                               XP_SWR("%[v]", "%[step]", "%[y]") XP_LOOP_END "mv %[v],%[d]\n" XP_END           \
                   : [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [y] "+r"(y), [v] "=&r"(v), [a] "=&r"(a),     \
                     [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)                                                  \
                   : [n] "r"(p->out_width), [step] "r"(p->channels)                                            \
                   : "memory")

static uint32_t is_three_by_three(const struct tvm_pulp_pool_args *p) {
  return p->kernel_height == 3u && p->kernel_width == 3u && p->stride_y == 2u && p->stride_x == 2u &&
         p->dilation_y == 1u && p->dilation_x == 1u && (p->channels & 3u) == 0u && all_inside(p);
}

static __attribute__((noinline)) void three_by_three(const struct tvm_pulp_pool_args *p, uint32_t core, uint32_t cores) {
  const uint32_t groups = p->channels >> 2, line = p->width * p->channels;
  uint32_t oy = 0, group = core;
  for (;; group += cores) {
    for (; group >= groups; group -= groups) ++oy;
    if (oy >= p->out_height) return;
    const int8_t *x0 = p->x + 2u * oy * line + 4u * group, *x1 = x0 + line, *x2 = x1 + line;
    int8_t *y = p->y + oy * p->out_width * p->channels + 4u * group;
    int32_t v, a, b, c, d;
    XP_BY_SIGN(p->x_type, MAX_OF_LINE(XP_MAX4), MAX_OF_LINE(XP_MAXU4));
  }
}

/* Half away from zero, clipped. */
static int32_t divide(const struct tvm_pulp_pool_args *args, int32_t total, uint32_t count,
                      struct tvm_pulp_reciprocal r) {
  uint32_t magnitude = (uint32_t)tvm_pulp_xp_abs(total) + (count >> 1);
  int32_t quotient = (int32_t)(tvm_pulp_high_word(magnitude + 1u, r.multiplier) >> r.shift);
  return tvm_pulp_xp_min(tvm_pulp_xp_max(total < 0 ? -quotient : quotient, args->low), args->high);
}

static int32_t average(const struct tvm_pulp_pool_args *args, const struct window *w, const int8_t *x,
                       struct tvm_pulp_reciprocal r) {
  uint32_t count = w->rows * w->columns;
  int32_t total[4];
  sum(w, x, args->x_type, total);
  for (uint32_t i = 0; i < 4u; ++i) total[i] = divide(args, total[i], count, r);
  return tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, total[1], total[0]), total[3], total[2]);
}

/* Sums of bytes, so the largest is known from the number of taps. */
static inline struct tvm_pulp_reciprocal reciprocal_of(const struct window *w) {
  uint32_t count = w->rows * w->columns;
  return tvm_pulp_reciprocal_up_to(count << 8, count);
}

enum { NOT_ASKED = 2 };

static void pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores, uint32_t is_average) {
  if (args->channels < 4u) {
    tvm_pulp_plain_pool(args, core, cores, is_average);
    return;
  }
  const uint32_t groups = (args->channels + 3u) >> 2, x_type = args->x_type;
  struct tvm_pulp_range range = tvm_pulp_share(args->out_height * args->out_width * groups, core, cores);
  if (range.begin >= range.end) return;
  uint32_t pixel = range.begin / groups, group = range.begin - pixel * groups;
  uint32_t oy = pixel / args->out_width, ox = pixel - oy * args->out_width, inside = NOT_ASKED;
  struct window w = find_window(args, oy, ox);
  struct tvm_pulp_reciprocal r = {0, 0};
  if (is_average) r = reciprocal_of(&w);
  for (uint32_t at = range.begin;; ++pixel, group = 0) {
    uint32_t last = group + (range.end - at) < groups ? group + (range.end - at) : groups;
    at += last - group;
    int8_t *y = args->y + pixel * args->channels;
    if (!is_average && w.columns > 0u) {
      for (; group + 4u <= last && 4u * group + 16u <= args->channels; group += 4u) {
        maximum_of_sixteen(&w, w.x + 4u * group, x_type, y + 4u * group);
      }
      if (group + 2u <= last && 4u * group + 8u <= args->channels) {
        maximum_of_eight(&w, w.x + 4u * group, x_type, y + 4u * group);
        group += 2u;
      }
    }
    for (; group < last; ++group) {
      uint32_t channel = 4u * group + 4u > args->channels ? args->channels - 4u : 4u * group;
      int32_t word = is_average ? average(args, &w, w.x + channel, r) : maximum(&w, w.x + channel, x_type);
      tvm_pulp_xp_put_word(y + channel, word);
    }
    /* What follows is not even fetched where a core has one window, as in a mean of the whole image. */
    if (at >= range.end) return;
    if (inside == NOT_ASKED) inside = all_inside(args);
    w.x += args->stride_x * args->channels;
    if (++ox == args->out_width) {
      ox = 0;
      ++oy;
      w.x += (args->stride_y * args->width - args->out_width * args->stride_x) * args->channels;
    }
    if (!inside) {
      w = find_window(args, oy, ox);
      if (is_average) r = reciprocal_of(&w);
    }
  }
}

void tvm_pulp_kernel_max_pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores) {
  if (is_three_by_three(args)) {
    three_by_three(args, core, cores);
  } else {
    pool(args, core, cores, 0);
  }
}

void tvm_pulp_kernel_avg_pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores) {
  pool(args, core, cores, 1);
}
