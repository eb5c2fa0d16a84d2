/* SPDX-License-Identifier: Apache-2.0
 *
 * Single precision inside operators whose operands and results are integers. Only sums, differences and products that
 * IEEE 754 defines to the last bit, in a stated order: every machine gives the same integers. */
#ifndef TVM_PULP_REAL_H
#define TVM_PULP_REAL_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

/* Nearest integer, ties to even; what is beyond 2^22 becomes that. `x` is a number. By integers alone: without a float
 * unit, a sum and two comparisons are ten times as long. */
TVM_PULP_INLINE int32_t tvm_pulp_soft_round_even(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const uint32_t exponent = bits >> 23 & 0xffu, mantissa = (bits & 0x7fffffu) | 0x800000u;
  uint32_t whole = 0;
  if (exponent >= 127u + 22u) {
    whole = 4194304u;
  } else if (exponent >= 127u - 1u) {
    /* Twice the number, and whether something is behind that: a half and more of it, or an odd number and a half. */
    const uint32_t down = 127u + 22u - exponent, twice = mantissa >> down, rest = mantissa << (32u - down) != 0u;
    whole = (twice + (rest | (twice >> 1 & 1u))) >> 1;
  }
  return (bits >> 31) != 0u ? -(int32_t)whole : (int32_t)whole;
}

/* The same by a float unit where there is one. */
TVM_PULP_INLINE int32_t tvm_pulp_round_even(float x) {
#if defined(__riscv_flen)
  int32_t result;
  __asm__("fcvt.w.s %0,%1,rne" : "=r"(result) : "f"(x));
  return tvm_pulp_clip(result, -4194304, 4194304);
#elif defined(TVM_PULP_SOFT_FLOAT)
  return tvm_pulp_soft_round_even(x);
#else
  if (x <= -4194304.0f) return -4194304;
  if (x >= 4194304.0f) return 4194304;
  union {
    float real;
    int32_t bits;
  } sum = {x + 12582912.0f}; /* 1.5 * 2^23: the last bit of the sum counts ones */
  return sum.bits - 0x4b400000;
#endif
}

/* The same, limited: `low` and `high` are within 2^22. */
TVM_PULP_INLINE int32_t tvm_pulp_round_within(float x, int32_t low, int32_t high) {
#if defined(__riscv_flen)
  int32_t result;
  __asm__("fcvt.w.s %0,%1,rne" : "=r"(result) : "f"(x));
  return tvm_pulp_clip(result, low, high);
#else
  return tvm_pulp_clip(tvm_pulp_round_even(x), low, high);
#endif
}

/* A number of up to 64 bits, both halves rounded. */
TVM_PULP_INLINE float tvm_pulp_real_of(uint64_t value) {
  return (float)(uint32_t)(value >> 32) * 4294967296.0f + (float)(uint32_t)value;
}

/* 1 / sqrt(x) within two units in the last place, without division; 0 where x is not positive. */
TVM_PULP_INLINE float tvm_pulp_inverse_root(float x) {
  union {
    float real;
    uint32_t bits;
  } y = {x};
  if (!(x > 0.0f)) return 0.0f;
  y.bits = 0x5f375a86u - (y.bits >> 1);
  float half = 0.5f * x;
  y.real = y.real * (1.5f - half * y.real * y.real);
  y.real = y.real * (1.5f - half * y.real * y.real);
  y.real = y.real * (1.5f - half * y.real * y.real);
  return y.real;
}

#endif /* TVM_PULP_REAL_H */
