/* SPDX-License-Identifier: Apache-2.0
 *
 * Four channels at a time; the last four reach back where channels are not a multiple of four. Work is shared in output
 * pixels and channel groups. */
#include "pool_window.h"
#include "requantize_block.h"
#include "tvm_pulp/plain/mean_pool.h"
#include "tvm_pulp/work_share.h"

/* One rounding by a shift above 32, which concerns the high word of the product alone; ties are those of all bits. Sums
 * of bytes have room for a shift to the left that brings smaller shifts there. */
static inline int32_t rounded(const struct tvm_pulp_requant *r, int32_t total, int32_t mul, int32_t right) {
  int32_t high = (int32_t)((int64_t)total * mul >> 32), value = tvm_pulp_xp_add_round_shift(high, 0, right);
  if (r->kind == TVM_PULP_REQUANT_HALF_EVEN) {
    uint32_t beside_half = (((uint32_t)high << (32 - right)) ^ 0x80000000u) | ((uint32_t)total * (uint32_t)mul);
    value -= value & (beside_half == 0u ? 1 : 0);
  }
  return tvm_pulp_xp_min(tvm_pulp_xp_max(value + r->zero_point, r->low), r->high);
}

/* A product, a sum and a shift; odd results lose one before the shift where halves go to the even one. */
struct line {
  uint32_t mul, add;
  int32_t shift, low, high, zero_point;
  uint32_t to_even;
};

static inline struct line line_of(const struct tvm_pulp_requant *r, uint32_t mul, uint32_t add) {
  struct line line = {mul, add, r->shift, r->low, r->high, r->zero_point, r->kind == TVM_PULP_REQUANT_SHIFT_EVEN};
  return line;
}

/* Four sums as one word. */
static inline int32_t shifted(const struct line *line, int32_t s0, int32_t s1, int32_t s2, int32_t s3) {
  int32_t v[4] = {(int32_t)((uint32_t)s0 * line->mul + line->add), (int32_t)((uint32_t)s1 * line->mul + line->add),
                  (int32_t)((uint32_t)s2 * line->mul + line->add), (int32_t)((uint32_t)s3 * line->mul + line->add)};
  if (line->to_even) {
    for (uint32_t i = 0; i < 4u; ++i) v[i] -= ((v[i] >> line->shift) ^ line->zero_point) & 1;
  }
  for (uint32_t i = 0; i < 4u; ++i) {
    v[i] = tvm_pulp_xp_min(tvm_pulp_xp_max(v[i] >> line->shift, line->low), line->high);
  }
  return tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, v[1], v[0]), v[3], v[2]);
}

/* Groups of four channels of a window with one or two taps in a line, one group behind the other. Unsigned bytes are
 * taken 128 lower: `flip` turns their highest bits, the line's summand knows. */
#define TAP(at)                                               \
  do {                                                        \
    const int32_t word = tvm_pulp_xp_word(at) ^ flip;         \
    s0 = tvm_pulp_xp_sdotsp4(s0, word, 0x1);                  \
    s1 = tvm_pulp_xp_sdotsp4(s1, word, 0x100);                \
    s2 = tvm_pulp_xp_sdotsp4(s2, word, 0x10000);              \
    s3 = tvm_pulp_xp_sdotsp4(s3, word, 0x1000000);            \
  } while (0)

static inline void groups_of_window(const struct window *w, const int8_t *x, int8_t *y, uint32_t count, int32_t flip,
                                    struct line line, uint32_t columns) {
  const uint32_t rows = w->rows, row_step = w->row_step, step = w->column_step;
  for (; count > 0u; --count, x += 4, y += 4) {
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    const int8_t *at = x;
    for (uint32_t row = rows; row > 0u; --row, at += row_step) {
      TAP(at);
      if (columns > 1u) TAP(at + step);
    }
    tvm_pulp_xp_put_word(y, shifted(&line, s0, s1, s2, s3));
  }
}

static inline uint32_t is_rounding(const struct tvm_pulp_requant *r, int32_t shift, uint32_t taps) {
  return (r->kind == TVM_PULP_REQUANT_HALF_UP || r->kind == TVM_PULP_REQUANT_HALF_EVEN) && shift >= 25 && shift < 64 &&
         taps <= 4096u;
}

TVM_PULP_KERNEL(mean_pool) {
  const struct tvm_pulp_pool_args *pool = &args->pool;
  if (pool->channels < 4u) {
    tvm_pulp_plain_mean_pool(args, core, cores);
    return;
  }
  uint32_t groups = (pool->channels + 3u) >> 2, is_unsigned = pool->x_type == TVM_PULP_UINT8;
  const uint32_t kind = args->requant.kind;
  uint32_t shifts = kind == TVM_PULP_REQUANT_SHIFT_EVEN || (kind == TVM_PULP_REQUANT_PULP_NARROW && !args->requant.wide_result);
  const uint32_t is_four = (pool->channels & 3u) == 0u;
  struct tvm_pulp_range range = tvm_pulp_share(pool->out_height * pool->out_width * groups, core, cores);
  for (uint32_t at = range.begin; at < range.end;) {
    uint32_t pixel = at / groups, group = at - pixel * groups;
    uint32_t oy = pixel / pool->out_width, ox = pixel - oy * pool->out_width;
    uint32_t last = group + (range.end - at) < groups ? group + (range.end - at) : groups;
    struct window w = find_window(pool, oy, ox);
    uint32_t taps = w.rows * w.columns, counted = args->requant.per_channel ? taps : 0u;
    int32_t zeros = args->zero_point * (int32_t)taps, mul = args->requant.mul[counted], shift = args->requant.add[counted];
    uint32_t rounds = is_rounding(&args->requant, shift, taps);
    int32_t left = rounds && shift < 33 ? 33 - shift : 0;
    /* The zero points are in the summand. */
    struct line line = line_of(&args->requant, (uint32_t)mul, (uint32_t)shift - (uint32_t)zeros * (uint32_t)mul);
    at += last - group;
    if (shifts && is_four && w.columns - 1u < 2u) {
      const int32_t flip = is_unsigned ? (int32_t)0x80808080u : 0;
      const int8_t *x = w.x + 4u * group;
      int8_t *y = pool->y + pixel * pool->channels + 4u * group;
      if (is_unsigned) line.add += 128u * taps * (uint32_t)mul;
      if (w.columns == 2u) {
        groups_of_window(&w, x, y, last - group, flip, line, 2);
      } else {
        groups_of_window(&w, x, y, last - group, flip, line, 1);
      }
      continue;
    }
    for (; group < last; ++group) {
      uint32_t channel = 4u * group + 4u > pool->channels ? pool->channels - 4u : 4u * group;
      int32_t total[4];
      sum(&w, w.x + channel, is_unsigned, total);
      int8_t *y = pool->y + pixel * pool->channels + channel;
      if (shifts) {
        tvm_pulp_xp_put_word(y, shifted(&line, total[0], total[1], total[2], total[3]));
        continue;
      }
      for (uint32_t i = 0; i < 4u; ++i) total[i] = (int32_t)((uint32_t)(total[i] - zeros) << left);
      if (!rounds) {
        tvm_pulp_requantize_channel(&args->requant, total, 4, y, 1, counted);
        continue;
      }
      for (uint32_t i = 0; i < 4u; ++i) total[i] = rounded(&args->requant, total[i], mul, shift + left - 32);
      tvm_pulp_xp_put_word(y, tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, total[1], total[0]), total[3], total[2]));
    }
  }
}
