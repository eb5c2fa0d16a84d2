/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of pixels for cores that add up 16 products of signed bytes in an instruction: bytes in their order, unsigned
 * ones less 128, which the compiler takes back by what sums begin with. A pixel follows the other. */
#ifndef TVM_PULP_LANES_H
#define TVM_PULP_LANES_H

#include <arm_mve.h>
#include <stdint.h>

#include "rule.h"

enum { TVM_PULP_PIXELS = 2, TVM_PULP_CHANNELS = 4, TVM_PULP_DEPTH = 16 };
enum { TVM_PULP_BLOCKS = 1, TVM_PULP_VECTORS = 4, TVM_PULP_PARTS = 1, TVM_PULP_LANE = 4 };

typedef uint32_t __attribute__((may_alias)) tvm_pulp_lane; /* four values */

/* Puts values of a pixel of a block into a patch of a depth, from a place on. */
TVM_PULP_INLINE void tvm_pulp_put(tvm_pulp_lane *patch, int32_t pixel, int32_t place, int32_t depth, const void *values,
                                  int32_t count, int32_t is_unsigned) {
  uint8_t *to = (uint8_t *)patch + pixel * depth + place;
  const uint8_t *from = values;
  const uint8x16_t offset = vdupq_n_u8(is_unsigned ? 0x80 : 0);
  int32_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const uint8x16_t bytes = vldrbq_u8(from + i);
    vstrbq_u8(to + i, is_unsigned ? veorq_u8(bytes, offset) : bytes);
  }
  if (i < count) {
    const mve_pred16_t rest = vctp8q((uint32_t)(count - i));
    vstrbq_p_u8(to + i, veorq_u8(vldrbq_z_u8(from + i, rest), offset), rest);
  }
}

/* Four sums with the fraction of a result. The product is doubled, so shifts are one less. */
TVM_PULP_INLINE int32x4_t tvm_pulp_scaled(int32x4_t sum, int32x4_t shift, int32x4_t multiply, int32x4_t add) {
  return vaddq_s32(vqdmulhq_s32(vshlq_s32(sum, shift), multiply), add);
}

/* What is added to `add` below zero. */
TVM_PULP_INLINE int32x4_t tvm_pulp_less(int32x4_t sum, int32x4_t less) {
  return vandq_s32(vshrq_n_s32(sum, 31), less);
}

/* Halves of 16 bits as saturated bytes, in the lower half of each. */
TVM_PULP_INLINE int8x16_t tvm_pulp_bytes_of(int16x8_t value, enum tvm_pulp_saturation saturation) {
  const int8x16_t any = vreinterpretq_s8_s16(value);
  if (saturation == TVM_PULP_U8) return vreinterpretq_s8_u8(vqmovunbq_s16(vreinterpretq_u8_s16(value), value));
  return vqmovnbq_s16(any, saturation == TVM_PULP_U7 ? vmaxq_s16(value, vdupq_n_s16(0)) : value);
}

/* Four results of such sums, the lowest byte of each lane. */
TVM_PULP_INLINE int32x4_t tvm_pulp_saturated(int32x4_t value, enum tvm_pulp_saturation saturation) {
  const int16x8_t halves = vreinterpretq_s16_s32(vshrq_n_s32(value, 16));
  return vreinterpretq_s32_s8(tvm_pulp_bytes_of(halves, saturation));
}

typedef int32_t tvm_pulp_sums;
typedef int8x16_t tvm_pulp_weights, tvm_pulp_values;
typedef int32x4_t tvm_pulp_block_results;

TVM_PULP_INLINE int32_t tvm_pulp_first_sums(const int32_t *scale, int32_t channel) { return scale[channel]; }

TVM_PULP_INLINE int8x16_t tvm_pulp_some_weights(const int8_t *weight) { return vldrbq_s8(weight); }

TVM_PULP_INLINE int8x16_t tvm_pulp_some_values(const tvm_pulp_lane *from, int32_t part) {
  (void)part;
  return vldrbq_s8((const int8_t *)from);
}

TVM_PULP_INLINE int32_t tvm_pulp_dot(int32_t sum, int8x16_t x, int8x16_t w, int32_t part) {
  (void)part;
  return vmladavaq_s8(sum, x, w);
}

TVM_PULP_INLINE int32x4_t tvm_pulp_results_of(const int32_t *sum, const int32_t *scale,
                                              enum tvm_pulp_saturation saturation) {
  const int32x4_t sums = {sum[0], sum[1], sum[2], sum[3]};
  int32x4_t add = vldrwq_s32(scale + 12);
  if (saturation == TVM_PULP_S8_AWAY) add = vaddq_s32(add, tvm_pulp_less(sums, vldrwq_s32(scale + 16)));
  const int32x4_t value = tvm_pulp_scaled(sums, vldrwq_s32(scale + 4), vldrwq_s32(scale + 8), add);
  return tvm_pulp_saturated(value, saturation);
}

TVM_PULP_INLINE void tvm_pulp_store_results(int8_t *y, int32x4_t results) { vstrbq_s32(y, results); }

TVM_PULP_INLINE void tvm_pulp_store_sums(int32_t *y, const int32_t *sum) {
  for (int32_t channel = 0; channel < 4; channel++) y[channel] = sum[channel];
}

#endif /* TVM_PULP_LANES_H */
