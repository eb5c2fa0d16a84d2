/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of two tensors of bytes: summands by tables or factors, then the rule of product.h. */
#ifndef TVM_PULP_ADD_H
#define TVM_PULP_ADD_H

#include "lanes.h"

/* `tables`: 256 summands by the bits of a value of the first tensor, then of the second. `scale`: shift, multiply, add,
 * less. */
TVM_PULP_INLINE void tvm_pulp_add(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count, const int32_t *tables,
                                  const int32_t *scale, enum tvm_pulp_saturation saturation) {
  const int32_t rule[4] = {scale[0], scale[1], scale[2], scale[3]}; /* not read again behind what is stored */
#pragma GCC unroll 4
  for (int32_t i = 0; i < count; i++) y[i] = tvm_pulp_result(tables[a[i]] + tables[256 + b[i]], rule, saturation);
}

/* The lower or upper values of two words as one word. */
TVM_PULP_INLINE int32_t tvm_pulp_one_of_both(uint32_t a, uint32_t b, int32_t is_upper) {
  return (int32_t)(is_upper ? (a >> 16 | (b & 0xffff0000u)) : ((a & 0xffffu) | b << 16));
}

/* The same with products as summands: `scale` goes on with the factors of both tensors, of 16 bits, and what sums begin
 * with. `a_unsigned`, `b_unsigned`: types of values. */
TVM_PULP_INLINE void tvm_pulp_add_products(const uint8_t *a, const uint8_t *b, int8_t *y, int32_t count,
                                           int32_t a_unsigned, int32_t b_unsigned, const int32_t *scale,
                                           enum tvm_pulp_saturation saturation) {
  const int32_t rule[4] = {scale[0], scale[1], scale[2], scale[3]}, start = scale[6];
  const int32_t factors = (int32_t)(((uint32_t)scale[4] & 0xffffu) | (uint32_t)scale[5] << 16);
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const uint32_t first = *(const tvm_pulp_word *)(const void *)(a + i);
    const uint32_t second = *(const tvm_pulp_word *)(const void *)(b + i);
#pragma GCC unroll 2
    for (int32_t j = 0; j < 2; j++) {
      const uint32_t one = j ? tvm_pulp_odd(first, a_unsigned) : tvm_pulp_even(first, a_unsigned);
      const uint32_t two = j ? tvm_pulp_odd(second, b_unsigned) : tvm_pulp_even(second, b_unsigned);
#pragma GCC unroll 2
      for (int32_t k = 0; k < 2; k++) {
        const int32_t sum = __smlad(tvm_pulp_one_of_both(one, two, k), factors, start);
        y[i + j + 2 * k] = tvm_pulp_result(sum, rule, saturation);
      }
    }
  }
  for (; i < count; i++) {
    const int32_t one = a_unsigned ? a[i] : (int8_t)a[i], two = b_unsigned ? b[i] : (int8_t)b[i];
    y[i] = tvm_pulp_result(one * scale[4] + two * scale[5] + start, rule, saturation);
  }
}

#endif /* TVM_PULP_ADD_H */
