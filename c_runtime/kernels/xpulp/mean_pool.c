/* SPDX-License-Identifier: Apache-2.0
 *
 * Four channels at a time; the last four reach back where channels are not a multiple of four. Work is shared in output
 * pixels and channel groups. */
#include "pool_window.h"
#include "requantize_block.h"
#include "tvm_pulp/plain/mean_pool.h"
#include "tvm_pulp/work_share.h"

/* One rounding by a shift above 32. Sums of bytes have room for a shift to the left that brings smaller ones there. */
static inline int32_t rounded(const struct tvm_pulp_requant *r, int32_t total, int32_t mul, int32_t right) {
  int32_t value = tvm_pulp_rounded_product(total, mul, right, r->kind == TVM_PULP_REQUANT_HALF_EVEN);
  return tvm_pulp_xp_min(tvm_pulp_xp_max(value + r->zero_point, r->low), r->high);
}

/* Four numbers as a word of bytes. */
static inline int32_t clipped(const int32_t v[4], int32_t shift, int32_t low, int32_t high) {
  int32_t c[4];
  for (uint32_t i = 0; i < 4u; ++i) c[i] = tvm_pulp_xp_min(tvm_pulp_xp_max(v[i] >> shift, low), high);
  return tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, c[1], c[0]), c[3], c[2]);
}

/* Four sums by a product, a sum and a shift; odd ones lose one before the shift where halves go to the even result. */
static inline int32_t shifted(const struct tvm_pulp_requant *r, const int32_t total[4], uint32_t mul, uint32_t add) {
  int32_t v[4];
  for (uint32_t i = 0; i < 4u; ++i) v[i] = (int32_t)((uint32_t)total[i] * mul + add);
  /* Out of the way of global means, whose few pixels fetch every line of this. */
  if (__builtin_expect(r->kind == TVM_PULP_REQUANT_SHIFT_EVEN, 0)) {
    const int32_t shift = r->shift, zero_point = r->zero_point;
    for (uint32_t i = 0; i < 4u; ++i) v[i] -= ((v[i] >> shift) ^ zero_point) & 1;
  }
  return clipped(v, r->shift, r->low, r->high);
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

static __attribute__((noinline)) void groups_of_window(const struct tvm_pulp_mean_pool_args *args,
                                                       const struct window *w, uint32_t channel, int8_t *y, uint32_t count,
                                                       uint32_t mul, uint32_t add) {
  const uint32_t rows = w->rows, row_step = w->row_step, step = w->column_step, columns = w->columns;
  const struct tvm_pulp_requant *r = &args->requant;
  const uint32_t is_unsigned = args->pool.x_type == TVM_PULP_UINT8, to_even = r->kind == TVM_PULP_REQUANT_SHIFT_EVEN;
  const int32_t flip = is_unsigned ? (int32_t)0x80808080u : 0, shift = r->shift, low = r->low, high = r->high;
  const int32_t zero_point = r->zero_point;
  const int8_t *x = w->x + channel;
  if (is_unsigned) add += 128u * rows * columns * mul;
  for (; count > 0u; --count, x += 4, y += 4) {
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    const int8_t *at = x;
    for (uint32_t row = rows; row > 0u; --row, at += row_step) {
      TAP(at);
      if (columns > 1u) TAP(at + step);
    }
    int32_t v[4] = {(int32_t)((uint32_t)s0 * mul + add), (int32_t)((uint32_t)s1 * mul + add),
                    (int32_t)((uint32_t)s2 * mul + add), (int32_t)((uint32_t)s3 * mul + add)};
    if (to_even) {
      for (uint32_t i = 0; i < 4u; ++i) v[i] -= ((v[i] >> shift) ^ zero_point) & 1;
    }
    tvm_pulp_xp_put_word(y, clipped(v, shift, low, high));
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
  uint32_t groups = (pool->channels + 3u) >> 2;
  const uint32_t kind = args->requant.kind;
  const uint32_t shifts = kind == TVM_PULP_REQUANT_SHIFT_EVEN ||
                          (kind == TVM_PULP_REQUANT_PULP_NARROW && !args->requant.wide_result);
  const uint32_t is_four = shifts && (pool->channels & 3u) == 0u;
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
    at += last - group;
    if (__builtin_expect(is_four && w.columns <= 2u, 0)) {
      int8_t *y = pool->y + pixel * pool->channels + 4u * group;
      uint32_t factor = (uint32_t)mul, add = (uint32_t)shift - (uint32_t)zeros * factor;
      groups_of_window(args, &w, 4u * group, y, last - group, factor, add);
      continue;
    }
    for (; group < last; ++group) {
      uint32_t channel = 4u * group + 4u > pool->channels ? pool->channels - 4u : 4u * group;
      int32_t total[4];
      sum(&w, w.x + channel, pool->x_type, total);
      int8_t *y = pool->y + pixel * pool->channels + channel;
      if (shifts) {
        /* The zero points are in the summand. */
        uint32_t factor = (uint32_t)mul, add = (uint32_t)shift - (uint32_t)zeros * factor;
        tvm_pulp_xp_put_word(y, shifted(&args->requant, total, factor, add));
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
