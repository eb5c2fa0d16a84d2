/* SPDX-License-Identifier: Apache-2.0
 *
 * One channel at a time, so that its constants stay in registers. */
#include "requantize_block.h"

#include "tvm_pulp/elements.h"
#include "tvm_pulp/xpulp.h"

/* Accumulators of one channel and where their results go; what follows the scaling. */
struct strip {
  const int32_t *acc;
  uint32_t acc_step; /* words */
  uint8_t *y;
  uint32_t y_step; /* bytes */
  int32_t zero_point, low, high;
};

TVM_PULP_XP void put(struct strip *s, int32_t value) {
  *s->y = (uint8_t)tvm_pulp_xp_min(tvm_pulp_xp_max(value + s->zero_point, s->low), s->high);
  s->acc += s->acc_step;
  s->y += s->y_step;
}

TVM_PULP_XP int32_t high_word(int32_t a, int32_t b) { return (int32_t)((int64_t)a * b >> 32); }

/* For a multiplier that is not negative. With twice the multiplier as an unsigned number, the high word of the product
 * plus its next bit is the first rounding. */
TVM_PULP_XP void scale_tflite(struct strip s, uint32_t count, int32_t mul, int32_t exponent) {
  int32_t left = tvm_pulp_xp_max(exponent, 0), right = left - exponent;
  uint32_t twice = (uint32_t)mul << 1;
  /* Half away from zero: one less before rounding up, for negative numbers that are shifted at all. */
  int32_t nudged = right != 0 ? -1 : 0;
  for (uint32_t i = 0; i < count; ++i) {
    int32_t value = (int32_t)((uint32_t)*s.acc << left), high;
    __asm__("mulhsu %0,%1,%2" : "=r"(high) : "r"(value), "r"(twice));
    value = high + (int32_t)((uint32_t)value * twice >> 31);
    put(&s, tvm_pulp_xp_add_round_shift(value, value >> 31 & nudged, right));
  }
}

/* A shift above 32 concerns the high word of the product alone. */
TVM_PULP_XP void scale_half_up(struct strip s, uint32_t count, int32_t mul, int32_t shift) {
  for (uint32_t i = 0; i < count; ++i) put(&s, tvm_pulp_xp_add_round_shift(high_word(*s.acc, mul), 0, shift - 32));
}

/* As half up, less one where the rest was exactly a half and the result is odd. */
TVM_PULP_XP void scale_half_even(struct strip s, uint32_t count, int32_t mul, int32_t shift) {
  int32_t right = shift - 32, left = 32 - right;
  for (uint32_t i = 0; i < count; ++i) {
    int32_t high = high_word(*s.acc, mul), value = tvm_pulp_xp_add_round_shift(high, 0, right);
    uint32_t beside_half = (((uint32_t)high << left) ^ 0x80000000u) | ((uint32_t)*s.acc * (uint32_t)mul);
    put(&s, value - (value & (beside_half == 0u ? 1 : 0)));
  }
}

static __attribute__((noinline)) void scale_slowly(const struct tvm_pulp_requant *r, struct strip s, uint32_t count,
                                                   uint32_t channel) {
  for (; count > 0u; --count, s.acc += s.acc_step, s.y += s.y_step) tvm_pulp_finish(r, s.y, 0, *s.acc, channel);
}

/* One channel of any kind; inlined, so that a constant count unrolls its loop. */
TVM_PULP_XP void requantize_strip(const struct tvm_pulp_requant *r, uint32_t kind, struct strip s, uint32_t count,
                                  uint32_t channel) {
  uint32_t at = r->per_channel ? channel : 0u;
  if (kind == TVM_PULP_REQUANT_TFLITE) {
    scale_tflite(s, count, r->mul[at], r->add[at]);
  } else if (kind == TVM_PULP_REQUANT_HALF_UP && r->add[at] > 32) {
    scale_half_up(s, count, r->mul[at], r->add[at]);
  } else if (kind == TVM_PULP_REQUANT_HALF_EVEN && r->add[at] > 32) {
    scale_half_even(s, count, r->mul[at], r->add[at]);
  } else {
    scale_slowly(r, s, count, channel);
  }
}

void tvm_pulp_requantize_channel(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count, void *y,
                                 uint32_t step, uint32_t channel) {
  struct strip s = {acc, 1, y, step, requant->zero_point, requant->low, requant->high};
  requantize_strip(requant, requant->wide_result ? 0u : requant->kind, s, count, channel);
}

void tvm_pulp_requantize_row(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t columns, uint8_t *y,
                             uint32_t first) {
  uint32_t bytes = tvm_pulp_result_bytes(requant);
  if (!requant->per_channel) {
    /* One rule for all: the columns are the strip. */
    tvm_pulp_requantize_channel(requant, acc, columns, y + first * bytes, bytes, 0);
    return;
  }
  struct strip s = {acc, 0, y + first * bytes, 0, requant->zero_point, requant->low, requant->high};
  uint32_t kind = requant->wide_result ? 0u : requant->kind;
  for (uint32_t column = 0; column < columns; ++column, ++s.acc, s.y += bytes) {
    requantize_strip(requant, kind, s, 1, first + column);
  }
}

void tvm_pulp_requantize_block(const struct tvm_pulp_requant *requant, const int32_t *block, uint32_t rows,
                               uint32_t columns, uint8_t *y, uint32_t y_stride, uint32_t first) {
  uint32_t bytes = tvm_pulp_result_bytes(requant), kind = requant->wide_result ? 0u : requant->kind;
  if (rows < 4u) {
    for (uint32_t row = 0; row < rows; ++row, block += TVM_PULP_BLOCK_COLUMNS, y += y_stride) {
      tvm_pulp_requantize_row(requant, block, columns, y, first);
    }
    return;
  }
  struct strip s = {block, TVM_PULP_BLOCK_COLUMNS, y + first * bytes, y_stride,
                    requant->zero_point, requant->low, requant->high};
  for (uint32_t column = 0; column < columns; ++column, ++s.acc, s.y += bytes) {
    requantize_strip(requant, kind, s, 4, first + column);
  }
}
