/* SPDX-License-Identifier: Apache-2.0
 *
 * TFLite's requantization and that with one rounding, half up, by the same few instructions, where the caller promises
 * small numbers (kernels.h).
 *
 * Let h be the product of accumulator and multiplier over 2^30, rounded down: the high word of the product of both
 * doubled. One rounding is (h + half) >> shift. TFLite's first rounding is (h + 1) >> 1 and both together are
 * (h + 1 + half) >> shift; for a negative h one unit of the first rounding less, since halves are rounded away from
 * zero. The zero point is part of the summand. The clip instruction takes a range around zero, so the middle of the
 * range is subtracted from the zero point and added to the bytes. */
#ifndef TVM_PULP_SCALED_H
#define TVM_PULP_SCALED_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/xpulp.h"

/* Read by the assembler code of tile_scaled.c at fixed offsets. */
struct tvm_pulp_scaled {
  int32_t factor, offset; /* shift = constant of the channel * factor + offset */
  int32_t summand;        /* 1 + twice the zero point: times 2^(shift - 1) it is zero point and half */
  int32_t nudge;          /* 2: TFLite, 0: one rounding */
  uint32_t middle;        /* to be added to every result, four times */
  int32_t high;           /* largest result less the middle */
};

TVM_PULP_XP uint32_t tvm_pulp_is_scaled(const struct tvm_pulp_requant *r) {
  return (r->kind == TVM_PULP_REQUANT_TFLITE || r->kind == TVM_PULP_REQUANT_HALF_UP) && r->shift != 0 &&
         !r->wide_result;
}

TVM_PULP_XP struct tvm_pulp_scaled tvm_pulp_scaled_of(const struct tvm_pulp_requant *r) {
  uint32_t is_tflite = r->kind == TVM_PULP_REQUANT_TFLITE;
  int32_t high = (r->high - r->low) >> 1, middle = r->low + high + 1;
  struct tvm_pulp_scaled s;
  s.factor = is_tflite ? -1 : 1;
  s.offset = is_tflite ? 1 : -30;
  s.summand = 2 * (r->zero_point - middle) + 1;
  s.nudge = is_tflite ? 2 : 0;
  s.middle = (uint32_t)(uint8_t)middle * 0x01010101u;
  s.high = high;
  return s;
}

/* <float biases> */
/* The same for high_word (kernels.h), where a clip instruction makes the range: its accumulators are limited to `offset`
 * and shifted left by `factor`. */
TVM_PULP_XP uint32_t tvm_pulp_is_high_word(const struct tvm_pulp_requant *r) {
  return r->kind == TVM_PULP_REQUANT_HIGH_WORD && !r->wide_result && ((r->high - r->low) & 1) &&
         r->zero_point == r->low + ((r->high - r->low) >> 1) + 1;
}

TVM_PULP_XP struct tvm_pulp_scaled tvm_pulp_high_word_of(const struct tvm_pulp_requant *r) {
  struct tvm_pulp_scaled s = {0};
  s.factor = r->shift & 31;
  s.offset = INT32_MAX >> s.factor;
  s.middle = (uint32_t)(uint8_t)r->zero_point * 0x01010101u;
  s.high = (r->high - r->low) >> 1;
  return s;
}
/* </float biases> */

/* Constants of a channel for code that doubles accumulators for TFLite only: one rounding by two bits or more does not
 * see the last bit of h. */
struct tvm_pulp_scaled_channel {
  uint32_t factor; /* twice the multiplier */
  int32_t add, shift;
};

TVM_PULP_XP struct tvm_pulp_scaled_channel tvm_pulp_scaled_channel_of(const struct tvm_pulp_requant *r,
                                                                      const struct tvm_pulp_scaled *s,
                                                                      uint32_t channel) {
  uint32_t at = r->per_channel ? channel : 0u, less = s->nudge ? 0u : 1u;
  struct tvm_pulp_scaled_channel c;
  int32_t shift = r->add[at] * s->factor + s->offset;
  c.factor = (uint32_t)r->mul[at] << 1;
  c.add = ((int32_t)(((uint32_t)s->summand << (uint32_t)shift) + (uint32_t)s->nudge) >> 1) >> less;
  c.shift = shift - (int32_t)less;
  return c;
}

#endif /* TVM_PULP_SCALED_H */
