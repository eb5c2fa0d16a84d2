/* SPDX-License-Identifier: Apache-2.0
 *
 * Sigmoid and hyperbolic tangent of TFLite's integer LSTM, in 16-bit fixed point: `bits` integer bits, the rest are
 * fraction; results are all fraction. */
#ifndef TVM_PULP_FIXED_POINT16_H
#define TVM_PULP_FIXED_POINT16_H

#include "tvm_pulp/integer.h"

/* High half of 2*a*b, rounded to nearest. */
TVM_PULP_INLINE int32_t tvm_pulp_high_product16(int32_t a, int32_t b) {
  int32_t product = a * b;
  return (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

TVM_PULP_INLINE int32_t tvm_pulp_left16(int32_t value, int32_t bits) {
  return tvm_pulp_clip(value * (1 << bits), -32768, 32767);
}

/* exp(a) of a <= 0. */
static inline __attribute__((unused)) int32_t tvm_pulp_exp16(int32_t a, int32_t bits) {
  /* exp(-2^k), k = -2 .. 4 */
  static const int16_t factors[7] = {25520, 19875, 12055, 4435, 600, 11, 0};
  const int32_t fraction = 15 - bits, quarter = 1 << (fraction - 2);
  if (a == 0) return 32767;
  if (bits > 5 && a < -(1 << (fraction + 5))) return 0;
  int32_t part = (a & (quarter - 1)) - quarter;
  int32_t x = tvm_pulp_left16(part, bits) + 4096;
  int32_t x2 = tvm_pulp_high_product16(x, x);
  int32_t x3 = tvm_pulp_high_product16(x2, x), x4 = tvm_pulp_high_product16(x2, x2);
  int32_t third = tvm_pulp_high_product16(tvm_pulp_rounding_shift(x4, 2) + x3, 10923);
  int32_t series = tvm_pulp_rounding_shift(third + x2, 1);
  int32_t result = tvm_pulp_min(28918 + tvm_pulp_high_product16(28918, x + series), 32767);
  int32_t rest = part - a;
  for (int32_t k = 0; k < 7 && bits > k - 2; ++k) {
    if (rest & (1 << (fraction + k - 2))) result = tvm_pulp_high_product16(result, factors[k]);
  }
  return result;
}

/* 2 / (1 + a) of a in 0..1, with two integer bits. */
static inline __attribute__((unused)) int32_t tvm_pulp_inverse16(int32_t a) {
  int32_t half = (a + 32768) >> 1;
  int32_t x = 23130 + tvm_pulp_high_product16(half, -15420);
  for (int32_t step = 0; step < 3; ++step) {
    x += tvm_pulp_left16(tvm_pulp_high_product16(x, 8192 - tvm_pulp_high_product16(half, x)), 2);
  }
  return x;
}

/* Of three integer bits. */
static inline __attribute__((unused)) int32_t tvm_pulp_sigmoid16(int32_t a) {
  int32_t positive = tvm_pulp_left16(tvm_pulp_inverse16(tvm_pulp_exp16(tvm_pulp_min(a, -a), 3)), 1);
  return a == 0 ? 16384 : a > 0 ? positive : 32767 - positive;
}

static inline __attribute__((unused)) int32_t tvm_pulp_tanh16(int32_t a, int32_t bits) {
  int32_t positive = tvm_pulp_left16(tvm_pulp_inverse16(tvm_pulp_exp16(tvm_pulp_min(a, -a), bits + 1)) - 8192, 2);
  return a == 0 ? 0 : a > 0 ? positive : -positive;
}

#endif /* TVM_PULP_FIXED_POINT16_H */
