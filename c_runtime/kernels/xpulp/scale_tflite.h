/* SPDX-License-Identifier: Apache-2.0
 *
 * TFLite's two roundings in few instructions. */
#ifndef TVM_PULP_SCALE_TFLITE_H
#define TVM_PULP_SCALE_TFLITE_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/xpulp.h"

/* For a multiplier that is not negative. With twice the multiplier as an unsigned number, the high word of the product
 * plus its next bit is the first rounding. */
TVM_PULP_XP int32_t tvm_pulp_xp_scale_tflite(int32_t acc, int32_t mul, int32_t exponent) {
  int32_t left = tvm_pulp_xp_max(exponent, 0), right = left - exponent;
  uint32_t twice = (uint32_t)mul << 1;
  int32_t value = (int32_t)((uint32_t)acc << left), high;
  __asm__("mulhsu %0,%1,%2" : "=r"(high) : "r"(value), "r"(twice));
  uint32_t low = (uint32_t)value * twice;
  value = high + (int32_t)(low >> 31);
  /* Half away from zero: one less before rounding up, for negative numbers that are shifted at all. */
  int32_t nudge = right != 0 ? value >> 31 : 0;
  return tvm_pulp_xp_add_round_shift(value, nudge, right);
}

TVM_PULP_XP int32_t tvm_pulp_finish_tflite(const struct tvm_pulp_requant *r, int32_t acc, int32_t mul,
                                           int32_t exponent) {
  int32_t value = tvm_pulp_xp_scale_tflite(acc, mul, exponent) + r->zero_point;
  return tvm_pulp_xp_min(tvm_pulp_xp_max(value, r->low), r->high);
}

#endif /* TVM_PULP_SCALE_TFLITE_H */
