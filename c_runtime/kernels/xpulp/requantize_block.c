/* SPDX-License-Identifier: Apache-2.0 */
#include "requantize_block.h"

#include "tvm_pulp/elements.h"
#include "tvm_pulp/xpulp.h"

/* TFLite's two roundings for a multiplier that is not negative. With twice the multiplier as an unsigned number, the high
 * word of the product plus its next bit is the first rounding. */
static inline int32_t scale_tflite(int32_t acc, int32_t mul, int32_t exponent) {
  int32_t left = tvm_pulp_xp_max(exponent, 0), right = left - exponent;
  uint32_t twice = (uint32_t)mul << 1;
  int32_t value = (int32_t)((uint32_t)acc << left);
  int32_t high;
  __asm__("mulhsu %0,%1,%2" : "=r"(high) : "r"(value), "r"(twice));
  uint32_t low = (uint32_t)value * twice;
  value = high + (int32_t)(low >> 31);
  /* Half away from zero: one less before rounding up, for negative numbers that are shifted at all. */
  int32_t nudge = right != 0 ? value >> 31 : 0;
  return tvm_pulp_xp_add_round_shift(value, nudge, right);
}

void tvm_pulp_requantize_block(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count, void *y,
                               uint32_t first) {
  if (requant->kind != TVM_PULP_REQUANT_TFLITE || requant->wide_result) {
    for (uint32_t i = 0; i < count; ++i) tvm_pulp_finish(requant, y, first + i, acc[i], first + i);
    return;
  }
  uint32_t step = requant->per_channel;
  const int32_t *mul = requant->mul + first * step, *exponent = requant->add + first * step;
  int32_t zero_point = requant->zero_point, low = requant->low, high = requant->high;
  uint8_t *out = (uint8_t *)y + first;
  for (uint32_t i = 0; i < count; ++i, mul += step, exponent += step) {
    int32_t value = scale_tflite(acc[i], *mul, *exponent) + zero_point;
    out[i] = (uint8_t)tvm_pulp_xp_min(tvm_pulp_xp_max(value, low), high);
  }
}
