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

/* Four sums by a product, a sum and a shift, as one word. */
static inline int32_t shifted(const struct tvm_pulp_requant *r, const int32_t total[4], uint32_t mul, uint32_t add) {
  int32_t v[4];
  for (uint32_t i = 0; i < 4u; ++i) {
    int32_t value = (int32_t)((uint32_t)total[i] * mul + add) >> r->shift;
    v[i] = tvm_pulp_xp_min(tvm_pulp_xp_max(value, r->low), r->high);
  }
  return tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, v[1], v[0]), v[3], v[2]);
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
  uint32_t shifts = args->requant.kind == TVM_PULP_REQUANT_PULP_NARROW && !args->requant.wide_result;
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
    for (; group < last; ++group) {
      uint32_t channel = 4u * group + 4u > pool->channels ? pool->channels - 4u : 4u * group;
      int32_t total[4];
      sum(&w, w.x + channel, is_unsigned, total);
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
