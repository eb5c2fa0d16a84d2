/* SPDX-License-Identifier: Apache-2.0
 *
 * Fast with two by two taps of small weights: four channels of the four pixels are turned, so that each channel's result
 * is one dot product. Neighbours in the result that read the same columns share the turned pixels. */
#include "tvm_pulp/plain/im2col.h"
#include "tvm_pulp/plain/resize.h"
#include "tvm_pulp/xpulp.h"

enum { MOST_WEIGHT_BITS = 6 };

/* Four channels from `c` on of one pixel of the result; taps[i] holds channel c + i of the four pixels. */
TVM_PULP_INLINE int32_t near(const struct tvm_pulp_resize_args *a, const int32_t *taps, int32_t weights, uint32_t oy,
                             uint32_t ox, uint32_t c) {
  const struct tvm_pulp_requant *r = &a->requant;
  int32_t half = (1 << a->fraction) >> 1, mask = 2 * half - 1, moved = r->zero_point - a->zero_point, result[4];
  for (uint32_t i = 0; i < 4u; ++i) {
    int32_t acc = a->x_type == TVM_PULP_INT8 ? tvm_pulp_xp_dotsp4(taps[i], weights) : tvm_pulp_xp_dotusp4(taps[i], weights);
    if (__builtin_expect((acc & mask) == half, 0)) {
      result[i] = tvm_pulp_resize_tie(a, oy, ox, c + i, (acc >> a->fraction) + moved);
    } else {
      int32_t value = ((acc + half) >> a->fraction) + moved;
      result[i] = tvm_pulp_xp_max(tvm_pulp_xp_min(value, r->high), r->low);
    }
  }
  return tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, result[1], result[0]), result[3], result[2]);
}

/* As above, of another scale; the shift is 33 or more. */
TVM_PULP_INLINE int32_t scaled(const struct tvm_pulp_resize_args *a, const int32_t *taps, int32_t weights) {
  const struct tvm_pulp_requant *r = &a->requant;
  int32_t mul = r->mul[0], shift = r->add[0] - 32, half = 1 << (shift - 1), zero = a->zero_point * (1 << a->fraction);
  int32_t result[4];
  for (uint32_t i = 0; i < 4u; ++i) {
    int32_t acc = a->x_type == TVM_PULP_INT8 ? tvm_pulp_xp_dotsp4(taps[i], weights) : tvm_pulp_xp_dotusp4(taps[i], weights);
    int32_t high = (int32_t)((int64_t)(acc - zero) * mul >> 32);
    int32_t value = ((high + half) >> shift) + r->zero_point;
    result[i] = tvm_pulp_xp_max(tvm_pulp_xp_min(value, r->high), r->low);
  }
  return tvm_pulp_xp_packhi(tvm_pulp_xp_packlo(0, result[1], result[0]), result[3], result[2]);
}

TVM_PULP_INLINE int32_t weights_of(const struct tvm_pulp_resize_args *a, uint32_t oy, uint32_t ox) {
  const int32_t *down = a->row_weights + 2u * oy, *across = a->column_weights + 2u * ox;
  return (int32_t)((uint32_t)(down[0] * across[0]) | (uint32_t)(down[0] * across[1]) << 8 |
                   (uint32_t)(down[1] * across[0]) << 16 | (uint32_t)(down[1] * across[1]) << 24);
}

/* `count` pixels of the result, at least one, that read the same four pixels. */
static __attribute__((noinline)) void same_pixels(const struct tvm_pulp_resize_args *a, uint32_t oy, uint32_t ox,
                                                  uint32_t count, uint8_t *y) {
  const uint8_t *p0 = tvm_pulp_resize_tap(a, oy, 0, ox, 0), *p1 = tvm_pulp_resize_tap(a, oy, 0, ox, 1);
  const uint8_t *p2 = tvm_pulp_resize_tap(a, oy, 1, ox, 0), *p3 = tvm_pulp_resize_tap(a, oy, 1, ox, 1);
  for (uint32_t c = 0; c < a->channels; c += 4u) {
    int32_t taps[4] = {tvm_pulp_xp_word(p0 + c), tvm_pulp_xp_word(p1 + c), tvm_pulp_xp_word(p2 + c),
                       tvm_pulp_xp_word(p3 + c)};
    tvm_pulp_xp_transpose4(taps);
    for (uint32_t i = 0; i < count; ++i) {
      int32_t weights = weights_of(a, oy, ox + i);
      int32_t word = a->thresholds ? near(a, taps, weights, oy, ox + i, c) : scaled(a, taps, weights);
      tvm_pulp_xp_put_word(y + i * a->channels + c, word);
    }
  }
}

/* Whether two neighbours in the result read the same columns. */
TVM_PULP_INLINE uint32_t same_columns(const struct tvm_pulp_resize_args *a, uint32_t ox, uint32_t other) {
  const int32_t *p = a->columns + 2u * ox, *q = a->columns + 2u * other;
  return p[0] == q[0] && p[1] == q[1];
}

static void copy_pixels(const struct tvm_pulp_resize_args *a, uint32_t oy, uint32_t ox, uint32_t end, uint8_t *y) {
  for (; ox < end; ++ox) y = tvm_pulp_copy_bytes(y, tvm_pulp_resize_tap(a, oy, 0, ox, 0), a->channels);
}

TVM_PULP_KERNEL(resize) {
  const struct tvm_pulp_requant *r = &args->requant;
  uint32_t few = args->column_weights && args->row_taps == 2u && args->column_taps == 2u && args->middle == 0u &&
                 args->fraction <= MOST_WEIGHT_BITS && args->channels % 4u == 0u;
  uint32_t exact = args->thresholds && args->slack == 0;
  few = few && (exact || (!args->thresholds && r->kind == TVM_PULP_REQUANT_HALF_UP && r->add[0] >= 33));
  if (args->column_weights && !few) {
    tvm_pulp_plain_resize(args, core, cores);
    return;
  }
  struct tvm_pulp_range range = tvm_pulp_share(args->out_height * args->out_width, core, cores);
  uint32_t oy = range.begin / args->out_width, ox = range.begin - oy * args->out_width;
  uint8_t *y = args->y + range.begin * args->channels;
  for (uint32_t left = range.end - range.begin; left > 0u; ++oy, ox = 0) {
    uint32_t end = args->out_width - ox < left ? args->out_width : ox + left;
    left -= end - ox;
    if (!args->column_weights) {
      copy_pixels(args, oy, ox, end, y);
      y += (end - ox) * args->channels;
      continue;
    }
    while (ox < end) {
      uint32_t count = 1;
      while (ox + count < end && same_columns(args, ox, ox + count)) ++count;
      same_pixels(args, oy, ox, count, y);
      y += count * args->channels;
      ox += count;
    }
  }
}
