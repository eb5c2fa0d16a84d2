/* SPDX-License-Identifier: Apache-2.0
 *
 * Fixed-point exponential and reciprocal of TFLite's reference softmax. Q<i>.<f> names the integer and fraction bits. */
#ifndef TVM_PULP_SOFTMAX_TFLITE_H
#define TVM_PULP_SOFTMAX_TFLITE_H

#include "tvm_pulp/integer.h"

TVM_PULP_INLINE int32_t tvm_pulp_saturating_left(int32_t value, int32_t bits) {
  int64_t wide = (int64_t)value * ((int64_t)1 << bits);
  return wide < INT32_MIN ? INT32_MIN : wide > INT32_MAX ? INT32_MAX : (int32_t)wide;
}

/* exp(a) for a <= 0 in Q5.26; the result is Q0.31. */
static inline __attribute__((unused)) int32_t tvm_pulp_exp_q5(int32_t a) {
  /* exp(-2^k) in Q0.31, k = -2 .. 4 */
  static const int32_t factors[7] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int32_t quarter = (int32_t)1 << 24;
  if (a == 0) return INT32_MAX;
  int32_t part = (a & (quarter - 1)) - quarter;
  int32_t x = tvm_pulp_saturating_left(part, 5) + ((int32_t)1 << 28);
  int32_t x2 = tvm_pulp_doubling_high_multiply(x, x);
  int32_t x3 = tvm_pulp_doubling_high_multiply(x2, x);
  int32_t x4 = tvm_pulp_doubling_high_multiply(x2, x2);
  int32_t third = tvm_pulp_doubling_high_multiply(tvm_pulp_rounding_shift(x4, 2) + x3, 715827883);
  int32_t series = tvm_pulp_rounding_shift(third + x2, 1);
  int32_t result = 1895147668 + tvm_pulp_doubling_high_multiply(1895147668, x + series);
  int32_t remainder = part - a;
  for (int32_t k = 0; k < 7; ++k) {
    if (remainder & ((int32_t)1 << (24 + k))) result = tvm_pulp_doubling_high_multiply(result, factors[k]);
  }
  return result;
}

/* Exponential of a difference to the row maximum; 0 below `smallest`. */
TVM_PULP_INLINE int32_t tvm_pulp_softmax_exponential(int32_t difference, int32_t smallest, int32_t mul, int32_t left) {
  if (difference < smallest) return 0;
  return tvm_pulp_exp_q5(tvm_pulp_doubling_high_multiply(difference * (int32_t)((uint32_t)1 << left), mul));
}

TVM_PULP_INLINE int32_t tvm_pulp_softmax_headroom(int32_t value) {
  int32_t zeros = 0;
  while (((uint32_t)value << zeros) < 0x80000000u) ++zeros;
  return zeros;
}

/* A sum of int16 exponentials, brought to 1..2 by its headroom, less one: -32768 stands for 0, 32767 for 1. */
TVM_PULP_INLINE int32_t tvm_pulp_softmax_share(int32_t total, int32_t headroom) {
  return (int32_t)((((uint32_t)total << (headroom - 1)) + 8192u) >> 14) - 98304;
}

/* 1 / (total * 2^headroom), whose highest bit is set, as a Q0.31 mantissa. */
static inline __attribute__((unused)) int32_t tvm_pulp_softmax_inverse(uint32_t lifted) {
  int32_t fraction = (int32_t)(lifted - 0x80000000u);
  int32_t half = (int32_t)(((int64_t)fraction + INT32_MAX + 1) >> 1);
  int32_t x = 1515870810 + tvm_pulp_doubling_high_multiply(half, -1010580540);
  for (int32_t step = 0; step < 3; ++step) {
    int32_t rest = ((int32_t)1 << 29) - tvm_pulp_doubling_high_multiply(half, x);
    x += tvm_pulp_saturating_left(tvm_pulp_doubling_high_multiply(x, rest), 2);
  }
  return tvm_pulp_saturating_left(x, 1);
}

/* 1 / total as a mantissa; the exponent is in tvm_pulp_softmax_output_bits. */
static inline __attribute__((unused)) int32_t tvm_pulp_softmax_reciprocal(int32_t total) {
  return tvm_pulp_softmax_inverse((uint32_t)total << tvm_pulp_softmax_headroom(total));
}

/* Right shift that brings exponential * reciprocal to 8 bits. */
TVM_PULP_INLINE int32_t tvm_pulp_softmax_bits(int32_t headroom) { return 12 - headroom + 31 - 8; }
TVM_PULP_INLINE int32_t tvm_pulp_softmax_output_bits(int32_t total) {
  return tvm_pulp_softmax_bits(tvm_pulp_softmax_headroom(total));
}

#endif /* TVM_PULP_SOFTMAX_TFLITE_H */
