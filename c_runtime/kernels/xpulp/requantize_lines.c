/* SPDX-License-Identifier: Apache-2.0 */
#include "requantize_lines.h"

#include "group_share.h"
#include "requantize_block.h"
#include "shift_loop.h"
#include "tvm_pulp/work_share.h"

/* The rows that are this core's. */
struct taken {
  const uint8_t *x;
  uint8_t *y;
  uint32_t rows, lines; /* rows of a line */
};

/* Four channels of them, from `channel` on. */
#define FOUR_CHANNELS                                                            \
  const uint8_t *x = t->x + 4u * channel;                                        \
  uint8_t *y = t->y + channel;                                                   \
  uint32_t rows = t->rows, gap = p->x_line_stride - rows * p->x_stride;          \
  FOUR_LOCALS

#define EACH_LINE(LOOP)                                                          \
  for (uint32_t left = t->lines; left > 0u; --left, x += gap) {                  \
    LOOP;                                                                        \
  }
/* LOOP(clip, operands of the clip) for the range of the results. */
#define EACH_LINE_BY_RANGE(LOOP)                   \
  if (r->low == 0) {                               \
    EACH_LINE(LOOP(XP_CLIPUR, ))                   \
  } else if (r->low == ~r->high) {                 \
    EACH_LINE(LOOP(XP_CLIPR, ))                    \
  } else {                                         \
    EACH_LINE(LOOP(XP_BETWEEN, , [l] "r"(r->low))) \
  }

static __attribute__((noinline)) void shift_rows(const struct tvm_pulp_requantize_args *p, const struct taken *t,
                                                 uint32_t channel) {
  const struct tvm_pulp_requant *r = &p->requant;
  const int32_t *shift = r->mul + channel, *add = r->add + channel;
  FOUR_CHANNELS;
#define SHIFTS(CLIP, ...) SHIFT_LOOP(CLIP, , __VA_ARGS__)
  EACH_LINE_BY_RANGE(SHIFTS)
}

/* The odd ones of exact results lose a unit of what lies behind the shift, so that halves, of which nothing lies there,
 * become even; `c` is 0 for channels that have no halves. With an odd zero point the even ones do: one less before the
 * bit is looked at, one more behind. */
#define MOVED(i) "add " VALUE(i) "," VALUE(i) ",%[b" #i "]\n"
#define EVEN_OF(i) XP_EXTRACTUR("%[w]", VALUE(i), "%[s" #i "]") XP_MAC(VALUE(i), "%[w]", "%[c" #i "]")
#define EVEN EACH(MOVED) EACH(EVEN_OF)
#define TEMPORARY , [w] "=&r"(w)
#define EVEN_OPERANDS , XP_FOUR_OF("r", c, lost), XP_FOUR_OF("r", b, summand)

static __attribute__((noinline)) void even_rows(const struct tvm_pulp_requantize_args *p, const struct taken *t,
                                                uint32_t channel) {
  const struct tvm_pulp_requant *r = &p->requant;
  const int32_t odd = r->zero_point & 1, add[4] = {odd, odd, odd, odd};
  FOUR_CHANNELS;
  int32_t shift[4], summand[4], lost[4], w;
  for (uint32_t i = 0; i < 4u; ++i) {
    shift[i] = r->mul[channel + i] & 31;
    lost[i] = -(r->mul[channel + i] >> 5);
    summand[i] = r->add[channel + i] - odd;
  }
#define EVENS(CLIP, ...) SHIFT_LOOP_BY(CLIP, EVEN, TEMPORARY, EVEN_OPERANDS __VA_ARGS__)
  EACH_LINE_BY_RANGE(EVENS)
}

/* Whether one of four channels has halves: their shifts say so. */
static inline uint32_t has_halves(const int32_t *shift) { return (uint32_t)(shift[0] | shift[1] | shift[2] | shift[3]) >> 5; }

/* One rounding, half up, by shifts above 32: the high word of the product, half a unit and the zero point in one
 * summand. Shifts from 33 to 53 leave room for both. */
static uint32_t is_high(const int32_t *shift) {
  uint32_t small = 1;
  for (uint32_t i = 0; i < 4u; ++i) small &= (uint32_t)(shift[i] - 33) <= 20u;
  return small;
}

static __attribute__((noinline)) void high_rows(const struct tvm_pulp_requantize_args *p, const struct taken *t,
                                                uint32_t channel) {
  const struct tvm_pulp_requant *r = &p->requant;
  const int32_t *mul = r->mul + channel;
  FOUR_CHANNELS;
  int32_t shift[4], add[4];
  for (uint32_t i = 0; i < 4u; ++i) {
    shift[i] = r->add[channel + i] - 32;
    add[i] = (int32_t)((2u * (uint32_t)r->zero_point + 1u) << (shift[i] - 1));
  }
  FOUR_BY_RANGE(r, EACH_LINE(SHIFT_LOOP(XP_CLIPUR, HIGH_WORDS, MULTIPLIERS)),
                EACH_LINE(SHIFT_LOOP(XP_CLIPR, HIGH_WORDS, MULTIPLIERS)));
}

/* A number below zero loses `shift`: halves are rounded away from zero. */
#define AWAY_OF(i) "srai %[w]," VALUE(i) ",31\n" XP_MAC(VALUE(i), "%[w]", "%[c]")
#define AWAY EACH(MOVED) EACH(AWAY_OF)
#define AWAY_OPERANDS , [c] "r"(r->shift), XP_FOUR_OF("r", b, summand)

static __attribute__((noinline)) void away_rows(const struct tvm_pulp_requantize_args *p, const struct taken *t,
                                                uint32_t channel) {
  const struct tvm_pulp_requant *r = &p->requant;
  const int32_t *shift = r->mul + channel, *summand = r->add + channel;
  FOUR_CHANNELS;
  int32_t add[4], w;
  for (uint32_t i = 0; i < 4u; ++i) add[i] = (int32_t)((2u * (uint32_t)r->zero_point + 1u) << (shift[i] - 1));
#define AWAYS(CLIP, ...) SHIFT_LOOP_BY(CLIP, AWAY, TEMPORARY, AWAY_OPERANDS __VA_ARGS__)
  EACH_LINE_BY_RANGE(AWAYS)
}

/* Four channels of the rows by the general function, line by line. */
static __attribute__((noinline)) void any_rows(const struct tvm_pulp_requantize_args *p, const struct taken *t,
                                               uint32_t channel) {
  const uint8_t *x = t->x + 4u * channel;
  uint8_t *y = t->y;
  for (uint32_t left = t->lines; left > 0u; --left, x += p->x_line_stride, y += t->rows * p->y_stride) {
    tvm_pulp_requantize_columns(&p->requant, (const int32_t *)(const void *)x, p->x_stride / 4u, t->rows, 4, 1, y,
                                p->y_stride, channel);
  }
}

static void last_channels(const struct tvm_pulp_requantize_args *p, const struct taken *t, uint32_t channel);

void tvm_pulp_requantize_lines(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores) {
  const uint32_t groups = (p->columns + 3u) >> 2, kind = p->requant.kind, lines = p->lines > 1u;
  struct taken t = {p->x, p->y, p->rows, p->lines};
  struct tvm_pulp_group_share s = tvm_pulp_share_groups(groups, lines ? p->lines : p->rows, lines ? 1u : 4u, core, cores);
  const uint32_t count = s.range.end - s.range.begin;
  if (count == 0u) return;
  t.x += s.range.begin * (lines ? p->x_line_stride : p->x_stride);
  t.y += s.range.begin * (lines ? p->rows * p->y_stride : p->y_stride);
  *(lines ? &t.lines : &t.rows) = count;
  for (; s.first < groups; s.first += s.step) {
    uint32_t channel = 4u * s.first;
    if (channel + 4u > p->columns) {
      last_channels(p, &t, channel);
    } else if (kind == TVM_PULP_REQUANT_SHIFT_AWAY) {
      away_rows(p, &t, channel);
    } else if (kind >= TVM_PULP_REQUANT_SHIFT) {
      if (kind == TVM_PULP_REQUANT_SHIFT_EVEN && has_halves(p->requant.mul + channel)) {
        even_rows(p, &t, channel);
      } else {
        shift_rows(p, &t, channel);
      }
    } else if (is_high(p->requant.add + channel) && tvm_pulp_is_one_clip(&p->requant)) {
      high_rows(p, &t, channel);
    } else {
      any_rows(p, &t, channel);
    }
  }
}

/* A channel of the rows by itself: two elements a turn, because what is loaded is late. */
#define CHANNEL_LOOP()                                                                                        \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[v0]", "%[xs]", "%[x]") XP_LWR("%[v1]", "%[xs]", "%[x]") \
                   XP_ADDNR("%[v0]", "%[a]", "%[s]") XP_ADDNR("%[v1]", "%[a]", "%[s]")                        \
                   XP_BETWEEN("%[v0]", "%[v0]", "%[h]") XP_BETWEEN("%[v1]", "%[v1]", "%[h]")                  \
                   XP_SBR("%[v0]", "%[ys]", "%[y]") XP_LOOP_END XP_SBR("%[v1]", "%[ys]", "%[y]") XP_END       \
                   : [x] "+r"(x), [y] "+r"(y), XP_TWO("=&r", v)                                               \
                   : [n] "r"(rows >> 1), [xs] "r"(x_stride), [ys] "r"(y_stride), [h] "r"(high), [a] "r"(add), \
                     [s] "r"(shift), [l] "r"(low)                                                             \
                   : "memory")

static void shift_channel(const struct tvm_pulp_requantize_args *p, const struct taken *t, uint32_t channel) {
  const struct tvm_pulp_requant *r = &p->requant;
  const int32_t shift = r->mul[channel], add = r->add[channel], low = r->low, high = r->high;
  const uint32_t rows = t->rows, x_stride = p->x_stride, y_stride = p->y_stride;
  const uint8_t *line = t->x + 4u * channel;
  uint8_t *y = t->y + channel;
  int32_t v0, v1;
  for (uint32_t left = t->lines; left > 0u; --left, line += p->x_line_stride) {
    const uint8_t *x = line;
    if (rows > 1u) CHANNEL_LOOP();
    if (rows & 1u) {
      v0 = tvm_pulp_xp_add_shift(*(const int32_t *)(const void *)x, add, shift);
      *y = (uint8_t)tvm_pulp_xp_min(tvm_pulp_xp_max(v0, low), high);
      y += y_stride;
    }
  }
}

/* Halves to the even result, or TFLite's, away from zero. */
TVM_PULP_INLINE void rounded_channel(const struct tvm_pulp_requantize_args *p, const struct taken *t, uint32_t channel,
                                     uint32_t is_away) {
  const struct tvm_pulp_requant *r = &p->requant;
  const int32_t number = r->mul[channel], shift = is_away ? number : number & 31, add = r->add[channel];
  const int32_t lost = r->shift, low = r->low, high = r->high;
  const int32_t moved = (int32_t)((2u * (uint32_t)r->zero_point + 1u) << (shift - 1));
  const uint32_t rows = t->rows, x_stride = p->x_stride, y_stride = p->y_stride;
  const uint8_t *line = t->x + 4u * channel;
  uint8_t *y = t->y + channel;
  for (uint32_t left = t->lines; left > 0u; --left, line += p->x_line_stride) {
    const uint8_t *x = line;
    for (uint32_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
      int32_t total = *(const int32_t *)(const void *)x + add;
      if (is_away) {
        total = tvm_pulp_xp_add_shift(tvm_pulp_xp_mac(total, total >> 31, lost), moved, shift);
      } else {
        total = (total - (((total >> shift) ^ r->zero_point) & 1)) >> shift;
      }
      *y = (uint8_t)tvm_pulp_xp_min(tvm_pulp_xp_max(total, low), high);
    }
  }
}

/* The one to three channels behind the last four: bytes that no word holds. */
static __attribute__((noinline)) void last_channels(const struct tvm_pulp_requantize_args *p, const struct taken *t,
                                                    uint32_t channel) {
  const uint32_t kind = p->requant.kind;
  for (uint32_t one = channel; one < p->columns; ++one) {
    if (kind == TVM_PULP_REQUANT_SHIFT_AWAY) {
      rounded_channel(p, t, one, 1);
    } else if (kind == TVM_PULP_REQUANT_SHIFT_EVEN && p->requant.mul[one] >> 5 != 0) {
      rounded_channel(p, t, one, 0);
    } else {
      shift_channel(p, t, one);
    }
  }
}
