/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of pixels for 64-bit Arm cores that multiply four signed bytes by four others in each lane: bytes in their
 * order, unsigned ones less 128, which the compiler takes back by what sums begin with. A pixel follows the other;
 * where instructions multiply matrices (i8mm), eight values of two pixels take turns. */
#ifndef TVM_PULP_LANES_H
#define TVM_PULP_LANES_H

#include <arm_neon.h>
#include <stdint.h>

#include "rule.h"

#ifdef __ARM_FEATURE_MATMUL_INT8
enum { TVM_PULP_PIXELS = 4, TVM_PULP_CHANNELS = 16, TVM_PULP_DEPTH = 8 };
#else
enum { TVM_PULP_PIXELS = 4, TVM_PULP_CHANNELS = 16, TVM_PULP_DEPTH = 16 };
#endif
enum { TVM_PULP_BLOCKS = 1, TVM_PULP_VECTORS = 4, TVM_PULP_PARTS = 4, TVM_PULP_LANE = 4 };

typedef uint32_t __attribute__((may_alias, aligned(1))) tvm_pulp_lane; /* four values */

/* Puts values, four or a multiple, of a pixel by itself. */
TVM_PULP_INLINE void tvm_pulp_put_bytes(uint8_t *to, const uint8_t *from, int32_t count, int32_t is_unsigned) {
  const uint8_t offset = is_unsigned ? 0x80 : 0;
  int32_t i = 0;
  for (; i + 16 <= count; i += 16) vst1q_u8(to + i, veorq_u8(vld1q_u8(from + i), vdupq_n_u8(offset)));
  for (; i + 8 <= count; i += 8) vst1_u8(to + i, veor_u8(vld1_u8(from + i), vdup_n_u8(offset)));
  for (; i < count; i += 4)
    *(tvm_pulp_lane *)(void *)(to + i) = *(const tvm_pulp_lane *)(const void *)(from + i) ^ 0x01010101u * offset;
}

/* Puts values, four or a multiple, of a pixel of a block into a patch of a depth, from a place on. */
TVM_PULP_INLINE void tvm_pulp_put(tvm_pulp_lane *patch, int32_t pixel, int32_t place, int32_t depth, const void *values,
                                  int32_t count, int32_t is_unsigned) {
#ifdef __ARM_FEATURE_MATMUL_INT8
  uint8_t *to = (uint8_t *)patch + pixel / 2 * 2 * depth + pixel % 2 * 8;
  const uint8_t *from = values;
  const uint8x8_t offset = vdup_n_u8(is_unsigned ? 0x80 : 0);
  int32_t i = 0;
  for (; place % 8 == 0 && i + 16 <= count; i += 16) {
    const uint8x16_t bytes = veorq_u8(vld1q_u8(from + i), vcombine_u8(offset, offset));
    vst1_u8(to + 2 * (place + i), vget_low_u8(bytes));
    vst1_u8(to + 2 * (place + i) + 16, vget_high_u8(bytes));
  }
  for (; place % 8 == 0 && i + 8 <= count; i += 8) vst1_u8(to + 2 * (place + i), veor_u8(vld1_u8(from + i), offset));
  for (; i < count; i += 4)
    tvm_pulp_put_bytes(to + (place + i) / 8 * 16 + (place + i) % 8, from + i, 4, is_unsigned);
#else
  tvm_pulp_put_bytes((uint8_t *)patch + pixel * depth + place, values, count, is_unsigned);
#endif
}

#ifdef __ARM_FEATURE_MATMUL_INT8
/* Alone, a pixel's values lie in their order. */
#define TVM_PULP_PUT_ONE
TVM_PULP_INLINE void tvm_pulp_put_one(tvm_pulp_lane *patch, const void *values, int32_t count, int32_t is_unsigned) {
  tvm_pulp_put_bytes((uint8_t *)patch, values, count, is_unsigned);
}
#endif

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

typedef int32x4_t tvm_pulp_sums;
typedef int8x16_t tvm_pulp_weights, tvm_pulp_values, tvm_pulp_block_results;

TVM_PULP_INLINE int32x4_t tvm_pulp_first_sums(const int32_t *scale, int32_t vector) {
  return vld1q_s32(scale + 4 * vector);
}

TVM_PULP_INLINE int8x16_t tvm_pulp_some_weights(const int8_t *weight) { return vld1q_s8(weight); }

TVM_PULP_INLINE int8x16_t tvm_pulp_some_values(const tvm_pulp_lane *from, int32_t part) {
  (void)part; /* of 16 values a product takes four */
  return vld1q_s8((const int8_t *)from);
}

TVM_PULP_INLINE int32x4_t tvm_pulp_dot(int32x4_t sum, int8x16_t x, int8x16_t w, int32_t part) {
  if (part == 0) return vdotq_laneq_s32(sum, w, x, 0);
  if (part == 1) return vdotq_laneq_s32(sum, w, x, 1);
  if (part == 2) return vdotq_laneq_s32(sum, w, x, 2);
  return vdotq_laneq_s32(sum, w, x, 3);
}

TVM_PULP_INLINE int8x16_t tvm_pulp_results_of(const int32x4_t *sum, const int32_t *scale,
                                              enum tvm_pulp_saturation saturation) {
  int32x4_t made[4];
  for (int32_t v = 0; v < 4; v++) made[v] = tvm_pulp_scaled(sum[v], scale + 4 * v, 16, saturation);
  return vcombine_s8(tvm_pulp_bytes_of(made[0], made[1], saturation), tvm_pulp_bytes_of(made[2], made[3], saturation));
}

TVM_PULP_INLINE void tvm_pulp_store_results(int8_t *y, int8x16_t results) { vst1q_s8(y, results); }

TVM_PULP_INLINE void tvm_pulp_store_sums(int32_t *y, const int32x4_t *sum) {
  for (int32_t v = 0; v < 4; v++) vst1q_s32(y + 4 * v, sum[v]);
}

#endif /* TVM_PULP_LANES_H */
