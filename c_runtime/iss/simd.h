/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of XpulpV2 as pure functions of register values. */
#ifndef ISS_SIMD_H
#define ISS_SIMD_H

#include <stdint.h>

#include "ops.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Scalar operations. */
static inline uint32_t count_leading_sign_bits(uint32_t value) {
  if (value == 0) return 0;
  if ((int32_t)value < 0) value = ~value;
  return value ? (uint32_t)__builtin_clz(value) - 1 : 31;
}

static inline uint32_t clip(uint32_t value, int32_t low, int32_t high) {
  int32_t v = (int32_t)value;
  return (uint32_t)(v < low ? low : v > high ? high : v);
}

/* A bit field is described by position in bits 4:0 and width - 1 in bits 9:5. */
static inline uint32_t field_ones(uint32_t field) { return 0xffffffffu >> (31 - ((field >> 5) & 31)); }
static inline uint32_t field_mask(uint32_t field) { return field_ones(field) << (field & 31); }
static inline uint32_t extract_unsigned(uint32_t value, uint32_t field) {
  return (value >> (field & 31)) & field_ones(field);
}
static inline uint32_t extract_signed(uint32_t value, uint32_t field) {
  uint32_t drop = 31 - ((field >> 5) & 31);
  return (uint32_t)((int32_t)((value >> (field & 31)) << drop) >> drop);
}
static inline uint32_t insert_field(uint32_t old, uint32_t value, uint32_t field) {
  uint32_t mask = field_mask(field);
  return (old & ~mask) | ((value << (field & 31)) & mask);
}

/* Shift amount in bits 4:0; bit 5 asks for rounding. */
static inline uint32_t round_shift_unsigned(uint32_t value, int32_t how) {
  uint32_t shift = (uint32_t)how & 31;
  if (how & 32) value += (1u << shift) >> 1;
  return value >> shift;
}
static inline uint32_t round_shift_signed(uint32_t value, int32_t how) {
  uint32_t shift = (uint32_t)how & 31;
  if (how & 32) value += (1u << shift) >> 1;
  return (uint32_t)((int32_t)value >> shift);
}

/* Packed operations: `a` and `b` are lanes of the given type, results wrap to the lane. */
static inline uint32_t broadcast_h(uint32_t v) { return (v & 0xffff) * 0x00010001u; }
static inline uint32_t broadcast_b(uint32_t v) { return (v & 0xff) * 0x01010101u; }

#define LANES(name, suffix, unsigned_type, count, type, expression)                               \
  static inline uint32_t lanes_##name##suffix(uint32_t x, uint32_t y) {                           \
    uint32_t result = 0;                                                                          \
    for (int lane = 0; lane < (count); lane++) {                                                  \
      int shift = lane * (32 / (count));                                                          \
      type a = (type)(x >> shift), b = (type)(y >> shift);                                        \
      (void)b;                                                                                    \
      result |= (uint32_t)(unsigned_type)(expression) << shift;                                   \
    }                                                                                             \
    return result;                                                                                \
  }
#define SIGNED_LANES(name, expression)                                   \
  LANES(name, _h, uint16_t, 2, int16_t, expression)                      \
  LANES(name, _b, uint8_t, 4, int8_t, expression)
#define UNSIGNED_LANES(name, expression)                                 \
  LANES(name, _h, uint16_t, 2, uint16_t, expression)                     \
  LANES(name, _b, uint8_t, 4, uint8_t, expression)
#define LANE_BITS ((int)sizeof(a) * 8)
#define WRAP(v) (sizeof(a) == 2 ? (int)(int16_t)(v) : (int)(int8_t)(v))
#define UNSIGNED_WRAP(v) (sizeof(a) == 2 ? (unsigned)(uint16_t)(v) : (unsigned)(uint8_t)(v))

#define BITWISE_LANES(name, expression)                                                               \
  static inline uint32_t lanes_##name##_h(uint32_t x, uint32_t y) { return expression; }              \
  static inline uint32_t lanes_##name##_b(uint32_t x, uint32_t y) { return expression; }

#define DEFINE_LANES(X, name, kind, result) kind(name, result)
PACKED_OPS(DEFINE_LANES, )
SIGNED_LANES(abs, a < 0 ? -a : a)

#define DOT(name, half_a, half_b, byte_a, byte_b)                                                   \
  static inline uint32_t name##_h(uint32_t x, uint32_t y) {                                         \
    return (uint32_t)(half_a)x * (uint32_t)(half_b)y +                                              \
           (uint32_t)(half_a)(x >> 16) * (uint32_t)(half_b)(y >> 16);                               \
  }                                                                                                 \
  static inline uint32_t name##_b(uint32_t x, uint32_t y) {                                         \
    return (uint32_t)((byte_a)x * (byte_b)y + (byte_a)(x >> 8) * (byte_b)(y >> 8) +                 \
                      (byte_a)(x >> 16) * (byte_b)(y >> 16) + (byte_a)(x >> 24) * (byte_b)(y >> 24)); \
  }
DOT(dot_uu, uint16_t, uint16_t, uint8_t, uint8_t)
DOT(dot_us, uint16_t, int16_t, uint8_t, int8_t)
DOT(plain_ss, int16_t, int16_t, int8_t, int8_t)

/* Signed products dominate integer kernels: use the host's own where it has one. */
static inline uint32_t dot_ss_h(uint32_t x, uint32_t y) { return plain_ss_h(x, y); }
#ifdef __SSE2__
static inline uint32_t dot_ss_b(uint32_t x, uint32_t y) {
  __m128i a = _mm_cvtsi32_si128((int)x), b = _mm_cvtsi32_si128((int)y), products;
  a = _mm_srai_epi16(_mm_unpacklo_epi8(a, a), 8);
  b = _mm_srai_epi16(_mm_unpacklo_epi8(b, b), 8);
  products = _mm_madd_epi16(a, b);
  return (uint32_t)_mm_cvtsi128_si32(products) + (uint32_t)_mm_cvtsi128_si32(_mm_shuffle_epi32(products, 1));
}
#else
static inline uint32_t dot_ss_b(uint32_t x, uint32_t y) { return plain_ss_b(x, y); }
#endif

static inline uint32_t shuffle_h(uint32_t value, uint32_t select) {
  uint32_t low = value >> ((select & 1) * 16), high = value >> ((select >> 16 & 1) * 16);
  return (low & 0xffff) | high << 16;
}
/* `apart` bits from one lane's choice to the next one's: 8, in the immediate form 2. */
static inline uint32_t shuffle_b(uint32_t value, uint32_t select, int apart) {
  uint32_t result = 0;
  for (int lane = 0; lane < 4; lane++)
    result |= ((value >> ((select >> (apart * lane) & 3) * 8)) & 0xff) << (8 * lane);
  return result;
}
/* Lanes of two registers; the bit above a lane's number says of which. */
static inline uint32_t shuffle2(uint32_t first, uint32_t select, uint32_t old, uint32_t lanes) {
  uint32_t result = 0, bits = 32 / lanes;
  for (uint32_t lane = 0; lane < lanes; lane++) {
    uint32_t choice = select >> (bits * lane), source = choice & lanes ? first : old;
    result |= ((source >> ((choice & (lanes - 1)) * bits)) & (0xffffffffu >> (32 - bits))) << (bits * lane);
  }
  return result;
}

#endif /* ISS_SIMD_H */
