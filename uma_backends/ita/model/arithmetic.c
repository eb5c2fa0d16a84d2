/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the engine: 26-bit sums, 8-bit multipliers, the activation unit. */
#include "engine.h"

/* Two's complement of 26 bits: the accumulator wraps, it does not saturate. */
int32_t ita_wrap(uint32_t sum) {
  const uint32_t low = sum & 0x3FFFFFFu;
  return low >> 25 ? (int32_t)low - (1 << 26) : (int32_t)low;
}

static int32_t clip(int64_t value) { return value < -128 ? -128 : value > 127 ? 127 : (int32_t)value; }

/* Halves round up, also below zero; the summand comes behind the shift. The half is a bit of the product, and there is
 * none behind its last one: what is shifted further is rounded down. */
int32_t ita_requantize(int32_t value, struct ita_requant rule) {
  const int64_t product = (int64_t)value * rule.multiplier;
  const uint32_t shift = rule.shift > 62 ? 62 : rule.shift;
  int64_t result = product >> shift;
  if (shift > 0 && shift <= ITA_PRODUCT_BITS) result += (product >> (shift - 1)) & 1;
  return clip(result + rule.add);
}

/* i-GELU with one constant for both of its polynomials, which makes the result minus GELU. */
static int32_t gelu(const struct ita_job *job, int32_t value) {
  const int64_t b = job->gelu_b, c = job->gelu_c;
  const int64_t magnitude = value < 0 ? -(int64_t)value : value;
  const int64_t clipped = magnitude < -b ? magnitude : -b;
  const int64_t polynomial = (clipped + b) * (clipped + b) + c;
  const int64_t erf = value < 0 ? -polynomial : polynomial;
  return ita_wrap((uint32_t)(uint64_t)(value * (erf + c)));
}

int32_t ita_activate(const struct ita_job *job, int32_t value) {
  switch (job->activation) {
    case ITA_GELU: return ita_requantize(gelu(job, value), job->after);
    case ITA_RELU: return ita_requantize(value < 0 ? 0 : value, job->after);
    default: return value;
  }
}
