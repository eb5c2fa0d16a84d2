/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of pixels for cores that add up 16 products of signed bytes in an instruction: bytes in their order, unsigned
 * ones less 128, which the compiler takes back by what sums begin with. A pixel follows the other. */
#ifndef TVM_PULP_LANES_H
#define TVM_PULP_LANES_H

#include <arm_mve.h>
#include <stdint.h>

#include "tvm_pulp/integer.h"

enum { TVM_PULP_PIXELS = 2, TVM_PULP_CHANNELS = 4, TVM_PULP_DEPTH = 16 };

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

TVM_PULP_INLINE void tvm_pulp_put_one(tvm_pulp_lane *patch, const void *values, int32_t count, int32_t is_unsigned) {
  tvm_pulp_put(patch, 0, 0, 0, values, count, is_unsigned);
}

/* How sums become results, as product.h says. */
enum tvm_pulp_saturation { TVM_PULP_S8, TVM_PULP_U8, TVM_PULP_U7, TVM_PULP_S8_AWAY, TVM_PULP_S32 };

/* Constants of a block of channels: what sums begin with, then each constant of all channels. */
TVM_PULP_INLINE int32_t tvm_pulp_scale_words(int32_t channels, enum tvm_pulp_saturation saturation) {
  return channels * (saturation == TVM_PULP_S32 ? 1 : saturation == TVM_PULP_S8_AWAY ? 5 : 4);
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
TVM_PULP_INLINE int32x4_t tvm_pulp_results_of(int32x4_t value, enum tvm_pulp_saturation saturation) {
  const int16x8_t halves = vreinterpretq_s16_s32(vshrq_n_s32(value, 16));
  return vreinterpretq_s32_s8(tvm_pulp_bytes_of(halves, saturation));
}

#endif /* TVM_PULP_LANES_H */
