/* SPDX-License-Identifier: Apache-2.0
 *
 * One channel at a time, so that its constants stay in registers. */
#include "requantize_block.h"

#include "tvm_pulp/elements.h"

/* A result of one byte, or of two. */
TVM_PULP_XP void put(struct tvm_pulp_strip *s, int32_t value, uint32_t bytes) {
  value = tvm_pulp_xp_min(tvm_pulp_xp_max(value + s->zero_point, s->low), s->high);
  if (bytes == 2u) {
    *(uint16_t *)(void *)s->y = (uint16_t)value;
  } else {
    *s->y = (uint8_t)value;
  }
  s->acc += s->acc_step;
  s->y += s->y_step;
}

/* TFLite's two roundings, for a multiplier that is not negative and accumulators up to 2^29. With 2^30 h the product of
 * accumulator and multiplier, rounded down, the first rounding is (h + 1) >> 1, and both together are
 * (h + 1 + half) >> (right + 1); one unit less below zero, where halves are rounded away from it. The zero point is
 * part of the summand. Two elements a turn: the high word of a product is late by a cycle. */
#define TFLITE_LOOP(NUDGE, CLIP)                                                                          \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]")                                                               \
                   XP_LWR("%[v0]", "%[as]", "%[acc]") XP_LWR("%[v1]", "%[as]", "%[acc]")                  \
                   "slli %[v0],%[v0],1\nslli %[v1],%[v1],1\n"                                             \
                   "mulhsu %[v0],%[v0],%[m]\nmulhsu %[v1],%[v1],%[m]\n" NUDGE                             \
                   XP_ADDNR("%[v0]", "%[a]", "%[sh]") XP_ADDNR("%[v1]", "%[a]", "%[sh]")                  \
                   CLIP("%[v0]", "%[v0]", "%[h]") CLIP("%[v1]", "%[v1]", "%[h]")                          \
                   XP_SBR("%[v0]", "%[ys]", "%[y]") XP_LOOP_END XP_SBR("%[v1]", "%[ys]", "%[y]") XP_END   \
                   : [acc] "+r"(s.acc), [y] "+r"(s.y), XP_TWO("=&r", v), XP_TWO("=&r", w)                 \
                   : [n] "r"(count >> 1), [m] "r"((uint32_t)mul << 1), [as] "r"(4u * s.acc_step), [ys] "r"(s.y_step), \
                     [a] "r"(add), [sh] "r"(right + 1), [h] "r"(s.high), [nudge] "r"(nudge)               \
                   : "memory")
#define TFLITE_NUDGE                                  \
  "srai %[w0],%[v0],31\nsrai %[w1],%[v1],31\n"        \
  XP_MAC("%[v0]", "%[w0]", "%[nudge]") XP_MAC("%[v1]", "%[w1]", "%[nudge]")

/* Whether the loop can: a right shift that leaves room for the zero point, a range that one instruction clips. */
TVM_PULP_XP uint32_t is_tflite_loop(const struct tvm_pulp_strip *s, int32_t exponent) {
  return (uint32_t)-exponent <= 20u && (s->low == 0 || s->low == ~s->high);
}

TVM_PULP_XP void scale_tflite(struct tvm_pulp_strip s, uint32_t count, int32_t mul, int32_t exponent) {
  int32_t right = -exponent, half = 1 << right & ~1, nudge = right != 0 ? 2 : 0;
  int32_t add = 1 + half + (int32_t)((uint32_t)s.zero_point << (right + 1)), v0, v1, w0, w1;
  if (count > 1u) {
    if (s.low != 0) {
      TFLITE_LOOP(TFLITE_NUDGE, XP_CLIPR);
    } else if (s.zero_point != 0) {
      TFLITE_LOOP(TFLITE_NUDGE, XP_CLIPUR);
    } else {
      /* Nothing below zero survives the clip. */
      TFLITE_LOOP("", XP_CLIPUR);
    }
  }
  if (count & 1u) {
    v0 = (int32_t)((uint32_t)*s.acc << 1);
    __asm__("mulhsu %0,%0,%1" : "+r"(v0) : "r"((uint32_t)mul << 1));
    v0 = tvm_pulp_xp_add_shift(tvm_pulp_xp_mac(v0, v0 >> 31, nudge), add, right + 1);
    *s.y = (uint8_t)tvm_pulp_xp_min(tvm_pulp_xp_max(v0, s.low), s.high);
  }
}

/* Halves up or to the even result, by a shift above 32. */
TVM_PULP_XP void scale_half(struct tvm_pulp_strip s, uint32_t count, int32_t mul, int32_t shift, uint32_t to_even,
                            uint32_t bytes) {
  int32_t right = shift - 32;
  for (uint32_t i = 0; i < count; ++i) put(&s, tvm_pulp_rounded_product(*s.acc, mul, right, to_even), bytes);
}

/* <float biases> */
/* The same of a product with an offset. Where nothing is left below the result of the sum with half a unit, the product
 * was half way between two: of these the even one. */
TVM_PULP_XP void scale_offset(struct tvm_pulp_strip s, uint32_t count, int32_t mul, int32_t packed) {
  int32_t shift = packed & 63, right = shift - 32, rest = (1 << right) - 1;
  int64_t start = (int64_t)(packed - shift) + ((int64_t)1 << (shift - 1));
  for (uint32_t i = 0; i < count; ++i) {
    int64_t sum = (int64_t)*s.acc * mul + start;
    int32_t upper = (int32_t)(sum >> 32), value = upper >> right;
    if (__builtin_expect((uint32_t)sum == 0u, 0)) value -= (upper & rest) == 0 ? value & 1 : 0;
    put(&s, value, 1);
  }
}

/* </float biases> */
static __attribute__((noinline)) void scale_slowly(const struct tvm_pulp_requant *r, struct tvm_pulp_strip s,
                                                   uint32_t count, uint32_t channel) {
  for (; count > 0u; --count, s.acc += s.acc_step, s.y += s.y_step) tvm_pulp_finish(r, s.y, 0, *s.acc, channel);
}

/* One channel of any kind but TFLite's; inlined, so that a constant count unrolls its loop. */
TVM_PULP_XP void requantize_strip(const struct tvm_pulp_requant *r, uint32_t kind, struct tvm_pulp_strip s,
                                  uint32_t count, uint32_t channel) {
  uint32_t at = r->per_channel ? channel : 0u;
  /* <float biases> */
  if (kind == TVM_PULP_REQUANT_OFFSET_HALF_EVEN && (r->add[at] & 63) > 32) {
    scale_offset(s, count, r->mul[at], r->add[at]);
    return;
  }
  /* </float biases> */
  if (kind == TVM_PULP_REQUANT_HALF_UP && r->add[at] > 32) {
    scale_half(s, count, r->mul[at], r->add[at], 0, 1);
  } else if (kind == TVM_PULP_REQUANT_HALF_EVEN && r->add[at] > 32) {
    scale_half(s, count, r->mul[at], r->add[at], 1, 1);
  } else {
    scale_slowly(r, s, count, channel);
  }
}

/* Every `step`-th of the columns, rounded half up to 16 bits: a shift above 32 concerns the high word alone. */
static __attribute__((noinline)) void half_columns(const struct tvm_pulp_requant *r, struct tvm_pulp_strip s,
                                                   uint32_t rows, uint32_t columns, uint32_t step, uint32_t channel) {
  for (uint32_t column = 0; column < columns; column += step, s.acc += step, s.y += 2u * step) {
    uint32_t at = r->per_channel ? channel + column : 0u;
    int32_t mul = r->mul[at], shift = r->add[at];
    if (shift <= 32) {
      scale_slowly(r, s, rows, at);
    } else if (rows == 4u) {
      scale_half(s, 4, mul, shift, 0, 2);
    } else {
      scale_half(s, rows, mul, shift, 0, 2);
    }
  }
}

/* Every `step`-th of the columns; a function of its own, because three loops are much code. */
static __attribute__((noinline)) void tflite_columns(const struct tvm_pulp_requant *r, struct tvm_pulp_strip s,
                                                     uint32_t rows, uint32_t columns, uint32_t step, uint32_t channel) {
  for (uint32_t column = 0; column < columns; column += step, s.acc += step, s.y += step) {
    uint32_t at = r->per_channel ? channel + column : 0u;
    if (is_tflite_loop(&s, r->add[at])) {
      scale_tflite(s, rows, r->mul[at], r->add[at]);
    } else {
      scale_slowly(r, s, rows, at);
    }
  }
}

void tvm_pulp_requantize_columns(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t acc_stride,
                                 uint32_t rows, uint32_t columns, uint32_t step, uint8_t *y, uint32_t y_stride,
                                 uint32_t first) {
  uint32_t bytes = tvm_pulp_result_bytes(requant), kind = requant->wide_result ? 0u : requant->kind;
  struct tvm_pulp_strip s = {acc, acc_stride, y + first * bytes, y_stride, requant->zero_point, requant->low, requant->high};
  if (kind == TVM_PULP_REQUANT_TFLITE) {
    tflite_columns(requant, s, rows, columns, step, first);
    return;
  }
  if (bytes == 2u && requant->kind == TVM_PULP_REQUANT_HALF_UP) {
    half_columns(requant, s, rows, columns, step, first);
    return;
  }
  for (uint32_t column = 0; column < columns; column += step, s.acc += step, s.y += step * bytes) {
    if (rows == 4u) {
      requantize_strip(requant, kind, s, 4, first + column);
    } else {
      requantize_strip(requant, kind, s, rows, first + column);
    }
  }
}

void tvm_pulp_requantize_row(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t columns, uint8_t *y,
                             uint32_t first) {
  uint32_t bytes = tvm_pulp_result_bytes(requant);
  if (requant->per_channel) {
    tvm_pulp_requantize_columns(requant, acc, 0, 1, columns, 1, y, 0, first);
  } else {
    /* One rule for all: the columns are the strip. */
    tvm_pulp_requantize_channel(requant, acc, columns, y + first * bytes, bytes, 0);
  }
}

void tvm_pulp_requantize_block(const struct tvm_pulp_requant *requant, const int32_t *block, uint32_t rows,
                               uint32_t columns, uint8_t *y, uint32_t y_stride, uint32_t first) {
  tvm_pulp_requantize_columns(requant, block, TVM_PULP_BLOCK_COLUMNS, rows, columns, 1, y, y_stride, first);
}
