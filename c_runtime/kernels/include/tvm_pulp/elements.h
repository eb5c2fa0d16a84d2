/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading, requantizing and writing single elements. */
#ifndef TVM_PULP_ELEMENTS_H
#define TVM_PULP_ELEMENTS_H

#include <stdint.h>

#include "tvm_pulp/integer.h"
#include "tvm_pulp/kernels.h"

TVM_PULP_INLINE int32_t tvm_pulp_load(const void *data, uint32_t index, uint32_t type) {
  if (type == TVM_PULP_INT8) return ((const int8_t *)data)[index];
  if (type == TVM_PULP_UINT8) return ((const uint8_t *)data)[index];
  if (type == TVM_PULP_INT16) return ((const int16_t *)data)[index];
  if (type == TVM_PULP_UINT16) return ((const uint16_t *)data)[index];
  return ((const int32_t *)data)[index];
}

TVM_PULP_INLINE uint32_t tvm_pulp_type_bytes(uint32_t type) {
  return type == TVM_PULP_INT32 ? 4u : type >= TVM_PULP_INT16 ? 2u : 1u;
}

TVM_PULP_INLINE const void *tvm_pulp_row(const void *data, uint32_t row, uint32_t stride) {
  return (const uint8_t *)data + (uintptr_t)row * stride;
}

TVM_PULP_INLINE void *tvm_pulp_out_row(void *data, uint32_t row, uint32_t stride) {
  return (uint8_t *)data + (uintptr_t)row * stride;
}

/* <float biases> */
TVM_PULP_INLINE int32_t tvm_pulp_requantize_high_word(const struct tvm_pulp_requant *r, int32_t acc, uint32_t channel) {
  const struct tvm_pulp_high_word *c = (const struct tvm_pulp_high_word *)(const void *)r->mul + channel;
  int32_t left = r->shift & 31, limit = INT32_MAX >> left, limited = tvm_pulp_clip(acc, ~limit, limit);
  int32_t product = (int32_t)((int64_t)(int32_t)((uint32_t)limited << left) * (int64_t)(uint64_t)c->mul >> 32);
  return tvm_pulp_clip(((product + c->add) >> c->right) + r->zero_point, r->low, r->high);
}
/* </float biases> */

TVM_PULP_INLINE int32_t tvm_pulp_requantize_any(const struct tvm_pulp_requant *r, int32_t acc, uint32_t channel) {
  if (r->kind == TVM_PULP_REQUANT_NONE) return acc;
  uint32_t at = r->per_channel ? channel : 0u;
  int32_t mul = r->mul[at], add = r->add[at];
  switch (r->kind) {
    case TVM_PULP_REQUANT_PULP_NARROW: return tvm_pulp_requantize(acc, mul, add, r->shift, r->low, r->high);
    case TVM_PULP_REQUANT_PULP_WIDE: return tvm_pulp_requantize_wide(acc, mul, add, r->shift, r->low, r->high);
    case TVM_PULP_REQUANT_TFLITE: return tvm_pulp_requantize_tflite(acc, mul, add, r->zero_point, r->low, r->high);
    case TVM_PULP_REQUANT_HALF_UP: return tvm_pulp_requantize_half_up(acc, mul, add, r->zero_point, r->low, r->high);
    /* <float biases> */
    case TVM_PULP_REQUANT_OFFSET_HALF_EVEN:
      return tvm_pulp_requantize_offset_half_even(acc, mul, add, r->zero_point, r->low, r->high);
    case TVM_PULP_REQUANT_HIGH_WORD: return tvm_pulp_requantize_high_word(r, acc, channel);
    /* </float biases> */
    default: return tvm_pulp_requantize_half_even(acc, mul, add, r->zero_point, r->low, r->high);
  }
}

TVM_PULP_INLINE uint32_t tvm_pulp_result_bytes(const struct tvm_pulp_requant *r) {
  if (r->kind == TVM_PULP_REQUANT_NONE) return 4u;
  return r->wide_result == 0u ? 1u : r->wide_result == 1u ? 4u : 2u;
}

TVM_PULP_INLINE void tvm_pulp_store(const struct tvm_pulp_requant *r, void *y, uint32_t index, int32_t value) {
  uint32_t bytes = tvm_pulp_result_bytes(r);
  if (bytes == 4u) {
    ((int32_t *)y)[index] = value;
  } else if (bytes == 2u) {
    ((uint16_t *)y)[index] = (uint16_t)value;
  } else {
    ((uint8_t *)y)[index] = (uint8_t)value;
  }
}

/* Requantize an accumulator and write it. */
TVM_PULP_INLINE void tvm_pulp_finish(const struct tvm_pulp_requant *r, void *y, uint32_t index, int32_t acc,
                                     uint32_t channel) {
  tvm_pulp_store(r, y, index, tvm_pulp_requantize_any(r, acc, channel));
}

/* The same for a sum of 64 bits, rounded half up; sums seldom need more than 32. */
TVM_PULP_INLINE void tvm_pulp_finish_long(const struct tvm_pulp_requant *r, void *y, uint32_t index, int64_t acc,
                                          uint32_t channel) {
  uint32_t at = r->per_channel ? channel : 0u;
  int32_t mul = r->mul[at], shift = r->add[at], narrow = (int32_t)acc;
  int32_t value = narrow == acc ? tvm_pulp_requantize_half_up(narrow, mul, shift, r->zero_point, r->low, r->high)
                                : tvm_pulp_requantize_half_up_64(acc, mul, shift, r->zero_point, r->low, r->high);
  tvm_pulp_store(r, y, index, value);
}

#endif /* TVM_PULP_ELEMENTS_H */
