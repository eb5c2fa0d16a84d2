/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of pixels for 64-bit Arm cores that multiply four signed bytes by four others in each lane: bytes in their
 * order, unsigned ones less 128, which the compiler takes back by what sums begin with. A pixel follows the other. */
#ifndef TVM_PULP_LANES_H
#define TVM_PULP_LANES_H

#include <arm_neon.h>
#include <stdint.h>

#include "tvm_pulp/integer.h"

enum { TVM_PULP_PIXELS = 4, TVM_PULP_CHANNELS = 16, TVM_PULP_DEPTH = 16 };

typedef uint32_t __attribute__((may_alias, aligned(1))) tvm_pulp_lane; /* four values */

/* Puts values, four or a multiple, of a pixel of a block into a patch of a depth, from a place on. */
TVM_PULP_INLINE void tvm_pulp_put(tvm_pulp_lane *patch, int32_t pixel, int32_t place, int32_t depth, const void *values,
                                  int32_t count, int32_t is_unsigned) {
  uint8_t *to = (uint8_t *)patch + pixel * depth + place;
  const uint8_t *from = values;
  const uint8_t offset = is_unsigned ? 0x80 : 0;
  int32_t i = 0;
  for (; i + 16 <= count; i += 16) vst1q_u8(to + i, veorq_u8(vld1q_u8(from + i), vdupq_n_u8(offset)));
  for (; i + 8 <= count; i += 8) vst1_u8(to + i, veor_u8(vld1_u8(from + i), vdup_n_u8(offset)));
  for (; i < count; i += 4)
    *(tvm_pulp_lane *)(void *)(to + i) = *(const tvm_pulp_lane *)(const void *)(from + i) ^ 0x01010101u * offset;
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

/* Four sums with the fraction of a result; `scale` are the constants of the first of them, of a block of `channels`.
 * The product is doubled, so shifts are one less. */
TVM_PULP_INLINE int32x4_t tvm_pulp_scaled(int32x4_t sum, const int32_t *scale, int32_t channels,
                                          enum tvm_pulp_saturation saturation) {
  const int32x4_t high = vqdmulhq_s32(vshlq_s32(sum, vld1q_s32(scale + channels)), vld1q_s32(scale + 2 * channels));
  int32x4_t add = vld1q_s32(scale + 3 * channels);
  if (saturation == TVM_PULP_S8_AWAY)
    add = vaddq_s32(add, vandq_s32(vshrq_n_s32(sum, 31), vld1q_s32(scale + 4 * channels)));
  return vaddq_s32(high, add);
}

/* Eight such sums as saturated bytes. */
TVM_PULP_INLINE int8x8_t tvm_pulp_bytes_of(int32x4_t first, int32x4_t second, enum tvm_pulp_saturation saturation) {
  const int16x8_t value = vuzp2q_s16(vreinterpretq_s16_s32(first), vreinterpretq_s16_s32(second));
  if (saturation == TVM_PULP_U8) return vreinterpret_s8_u8(vqmovun_s16(value));
  return vqmovn_s16(saturation == TVM_PULP_U7 ? vmaxq_s16(value, vdupq_n_s16(0)) : value);
}

#endif /* TVM_PULP_LANES_H */
