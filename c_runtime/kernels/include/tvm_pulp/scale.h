/* SPDX-License-Identifier: Apache-2.0
 *
 * TFLite's requantization in few instructions: with h the product of accumulator and multiplier over 2^30, rounded
 * down, its two roundings are one shift, (h + 1 + half) >> (right shift + 1); for a negative h the sum is 2 less, since
 * halves are rounded away from zero. Where nothing below the zero point survives, that does not show. The zero point is
 * part of the summand. */
#ifndef TVM_PULP_SCALE_H
#define TVM_PULP_SCALE_H

#include <stdint.h>

#include "tvm_pulp/elements.h"

struct tvm_pulp_scale {
  uint32_t factor; /* twice the multiplier */
  int32_t shift, summand, low, high;
  int is_rounded_away; /* halves below zero matter */
};

enum { TVM_PULP_LEAST_EXPONENT = -20 };

/* Tell if every channel has a scale: `shift` promises small numbers. */
TVM_PULP_INLINE int tvm_pulp_is_promised(const struct tvm_pulp_requant *r) {
  return r->wide_result == 0u && r->shift != 0 &&
         (r->kind == TVM_PULP_REQUANT_TFLITE || r->kind == TVM_PULP_REQUANT_HALF_UP);
}

/* Tell if halves below zero matter. */
TVM_PULP_INLINE int tvm_pulp_is_rounded_away(const struct tvm_pulp_requant *r) {
  return r->kind == TVM_PULP_REQUANT_TFLITE && r->low < r->zero_point;
}

/* The scale of a multiplier with its exponent, or with its shift of 32 to 51, of which the product over 2^30 has 30
 * behind it. */
TVM_PULP_INLINE struct tvm_pulp_scale tvm_pulp_promised_scale(const struct tvm_pulp_requant *r, int32_t mul, int32_t add) {
  const int is_tflite = r->kind == TVM_PULP_REQUANT_TFLITE;
  struct tvm_pulp_scale scale = {(uint32_t)mul << 1, is_tflite ? 1 - add : add - 30, is_tflite, r->low, r->high, 0};
  scale.summand += (1 << (scale.shift - 1)) + r->zero_point * (1 << scale.shift);
  scale.is_rounded_away = tvm_pulp_is_rounded_away(r);
  return scale;
}

/* The scale of a channel; 0 where it has none and tvm_pulp_finish has to do it. */
TVM_PULP_INLINE int tvm_pulp_scale_of(const struct tvm_pulp_requant *r, uint32_t channel,
                                      struct tvm_pulp_scale *scale) {
  const uint32_t at = r->per_channel ? channel : 0u;
  if (!tvm_pulp_is_promised(r)) {
    if (r->wide_result != 0u || r->kind != TVM_PULP_REQUANT_TFLITE) return 0;
    if (r->add[at] < TVM_PULP_LEAST_EXPONENT || r->add[at] > -1) return 0;
  }
  *scale = tvm_pulp_promised_scale(r, r->mul[at], r->add[at]);
  return 1;
}

TVM_PULP_INLINE int32_t tvm_pulp_scaled(int32_t acc, const struct tvm_pulp_scale *scale, int is_rounded_away) {
  int32_t h = (int32_t)(((int64_t)(int32_t)((uint32_t)acc << 1) * (int64_t)(uint64_t)scale->factor) >> 32);
  if (is_rounded_away) h += (h >> 31) * 2;
  h = (h + scale->summand) >> scale->shift;
  if (__builtin_expect(h < scale->low, 0)) h = scale->low;
  if (__builtin_expect(h > scale->high, 0)) h = scale->high;
  return h;
}

/* Requantize `count` sums of one channel, `sum_step` words apart, to results `y_stride` bytes apart. */
static inline void tvm_pulp_finish_channel(const struct tvm_pulp_requant *r, const int32_t *sums, uint32_t sum_step,
                                           uint32_t count, uint8_t *y, uint32_t y_stride, uint32_t channel) {
  struct tvm_pulp_scale scale;
  if (!tvm_pulp_scale_of(r, channel, &scale)) {
    for (; count != 0u; count--, sums += sum_step, y += y_stride) tvm_pulp_finish(r, y, 0, *sums, channel);
  } else if (scale.is_rounded_away) {
    for (; count != 0u; count--, sums += sum_step, y += y_stride) *y = (uint8_t)tvm_pulp_scaled(*sums, &scale, 1);
  } else {
    for (; count != 0u; count--, sums += sum_step, y += y_stride) *y = (uint8_t)tvm_pulp_scaled(*sums, &scale, 0);
  }
}

#endif /* TVM_PULP_SCALE_H */
