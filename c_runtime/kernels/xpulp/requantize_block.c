/* SPDX-License-Identifier: Apache-2.0 */
#include "requantize_block.h"

#include "scale_tflite.h"
#include "tvm_pulp/elements.h"

void tvm_pulp_requantize_block(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count, void *y,
                               uint32_t first) {
  if (requant->kind != TVM_PULP_REQUANT_TFLITE || requant->wide_result) {
    for (uint32_t i = 0; i < count; ++i) tvm_pulp_finish(requant, y, first + i, acc[i], first + i);
    return;
  }
  uint32_t step = requant->per_channel;
  const int32_t *mul = requant->mul + first * step, *exponent = requant->add + first * step;
  uint8_t *out = (uint8_t *)y + first;
  for (uint32_t i = 0; i < count; ++i, mul += step, exponent += step) {
    out[i] = (uint8_t)tvm_pulp_finish_tflite(requant, acc[i], *mul, *exponent);
  }
}

void tvm_pulp_requantize_channel(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count, void *y,
                                 uint32_t step, uint32_t channel) {
  uint8_t *out = y;
  if (requant->kind != TVM_PULP_REQUANT_TFLITE || requant->wide_result) {
    for (uint32_t i = 0; i < count; ++i, out += step) tvm_pulp_finish(requant, out, 0, acc[i], channel);
    return;
  }
  uint32_t at = requant->per_channel ? channel : 0u;
  int32_t mul = requant->mul[at], exponent = requant->add[at];
  for (uint32_t i = 0; i < count; ++i, out += step) {
    *out = (uint8_t)tvm_pulp_finish_tflite(requant, acc[i], mul, exponent);
  }
}
