/* SPDX-License-Identifier: Apache-2.0
 *
 * Float arithmetic that the generated kernels are made of. Every machine gives the same bits: what C leaves open
 * (contraction, rounding of a product that is added) is spelled out here. */
#ifndef TVM_PULP_FLOAT_H
#define TVM_PULP_FLOAT_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

#if defined(TVM_PULP_SOFT_FLOAT)
#include "tvm_pulp/soft_float.h"
#endif

TVM_PULP_INLINE uint32_t tvm_pulp_float_bits(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

TVM_PULP_INLINE float tvm_pulp_float_of(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/* The conversion of 64 bits is a function of many instructions; positions and counts fit 32. */
TVM_PULP_INLINE float tvm_pulp_float_of_int64(int64_t x) {
#if defined(__riscv_flen)
  int32_t low = (int32_t)x;
  if (low == x) {
    /* In C the two conversions are the same one to a compiler, which keeps the longer. */
    float result;
    __asm__("fcvt.s.w %0,%1" : "=f"(result) : "r"(low));
    return result;
  }
#endif
  return (float)x;
}

/* A factor or a summand as a compiler should have it in a register. GNU's loads constants from memory, which lies far
 * from the cores, wherever they do not stay in registers: it gets them from two integer instructions, as clang does. */
TVM_PULP_INLINE float tvm_pulp_operand(float value) {
#if defined(__riscv_flen) && !defined(__clang__)
  if (__builtin_constant_p(value)) {
    uint32_t bits = tvm_pulp_float_bits(value);
    __asm__("" : "+r"(bits));
    return tvm_pulp_float_of(bits);
  }
#endif
  return value;
}

/* a * b + c, rounded once. */
TVM_PULP_INLINE float tvm_pulp_fma(float a, float b, float c) {
#if defined(TVM_PULP_SOFT_FLOAT)
  return tvm_pulp_float_of(tvm_pulp_soft_fma(tvm_pulp_float_bits(a), tvm_pulp_float_bits(b), tvm_pulp_float_bits(c)));
#elif defined(__riscv_flen)
  /* Compilers call a function for the builtin where nothing may be assumed about libc. */
  float result;
  __asm__("fmadd.s %0,%1,%2,%3" : "=f"(result) : "f"(tvm_pulp_operand(a)), "f"(tvm_pulp_operand(b)), "f"(tvm_pulp_operand(c)));
  return result;
#elif defined(__aarch64__) && defined(__linux__)
  return __builtin_fmaf(a, b, c);
#elif defined(__aarch64__)
  float result;
  __asm__("fmadd %s0, %s1, %s2, %s3" : "=w"(result) : "w"(a), "w"(b), "w"(c));
  return result;
#elif defined(__FMA__) || defined(__AVX512F__)
  return __builtin_fmaf(a, b, c);
#elif defined(__ARM_FEATURE_FMA)
  __asm__("vfma.f32 %0, %1, %2" : "+t"(c) : "t"(a), "t"(b));
  return c;
#else
  /* The product is exact. The sum is rounded to odd: its last bit says that something is missing behind it, so that
   * rounding it again to a float is the only rounding that counts. */
  double product = (double)a * (double)b, sum = product + (double)c;
  double part = sum - product, missing = (product - (sum - part)) + ((double)c - part);
  uint64_t bits;
  __builtin_memcpy(&bits, &sum, sizeof bits);
  if ((missing > 0.0 || missing < 0.0) && (bits & 1u) == 0u) {
    bits += (missing > 0.0) == (sum > 0.0) ? 1u : ~(uint64_t)0;
    __builtin_memcpy(&sum, &bits, sizeof sum);
  }
  return (float)sum;
#endif
}

/* c - a * b, rounded once. */
TVM_PULP_INLINE float tvm_pulp_fnma(float a, float b, float c) {
#if defined(__riscv_flen)
  float result;
  __asm__("fnmsub.s %0,%1,%2,%3" : "=f"(result) : "f"(tvm_pulp_operand(a)), "f"(tvm_pulp_operand(b)), "f"(tvm_pulp_operand(c)));
  return result;
#else
  return tvm_pulp_fma(-a, b, c);
#endif
}

/* The larger and the smaller of two: the other one where one is not a number, as IEEE 754's maxNum has it. */
TVM_PULP_INLINE float tvm_pulp_fmax(float a, float b) {
#if defined(__riscv_flen)
  float result;
  __asm__("fmax.s %0,%1,%2" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  if (a == b) return (tvm_pulp_float_bits(a) >> 31) != 0u ? b : a;
  return a > b || b != b ? a : b;
#endif
}

TVM_PULP_INLINE float tvm_pulp_fmin(float a, float b) {
#if defined(__riscv_flen)
  float result;
  __asm__("fmin.s %0,%1,%2" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  if (a == b) return (tvm_pulp_float_bits(a) >> 31) != 0u ? a : b;
  return a < b || b != b ? a : b;
#endif
}

/* 1 / b within one unit in the last place, for |b| between 2^-118 and 2^117. The cores share one divider: where all of
 * them divide, six products that are added are several times as fast. */
TVM_PULP_INLINE float tvm_pulp_near_reciprocal(float b) {
  /* Bits of the first guess: the exponent's complement, and of the mantissa what makes the largest error 5 %. */
  float r = tvm_pulp_float_of(0x7ef311c7u - tvm_pulp_float_bits(b));
  r = tvm_pulp_fma(r, tvm_pulp_fnma(b, r, 1.0f), r);
  r = tvm_pulp_fma(r, tvm_pulp_fnma(b, r, 1.0f), r);
  return tvm_pulp_fma(r, tvm_pulp_fnma(b, r, 1.0f), r);
}

/* a / b within two units in the last place. */
TVM_PULP_INLINE float tvm_pulp_divide(float a, float b) {
  if (__builtin_expect((tvm_pulp_float_bits(b) << 1) - 0x09000000u >= 0xeb000000u, 0)) return a / b;
  return a * tvm_pulp_near_reciprocal(b);
}

/* --- quantization ---------------------------------------------------------------------------------------------- */

/* Adding this makes the last bit of a float its units: the sum's bits count whole numbers, rounded half to even. */
#define TVM_PULP_UNITS 0x1.8p23f
#define TVM_PULP_UNITS_BITS 0x4b400000

/* The quotient itself, for values beside the middle of two whole numbers. What is not a number is `low`. */
static __attribute__((noinline, unused)) int32_t tvm_pulp_quantize_close(float x, float scale, int32_t zero,
                                                                         int32_t low, int32_t high) {
  float quotient = x / scale;
  if (!(quotient > (float)(low - zero))) return low;
  if (quotient >= (float)(high - zero)) return high;
  return (int32_t)(tvm_pulp_float_bits(quotient + TVM_PULP_UNITS) - TVM_PULP_UNITS_BITS) + zero;
}

/* x / scale, rounded to a float as a division is, then half to even; plus the zero point, clipped to [low, high], from
 * which the zero point is less than 2^17 away.
 *
 * The cores share one divider, so the product with the reciprocal comes first. It differs from the quotient by less
 * than the whole number times 2^-23: only where x is farther than `sure` (a little less than half of the scale) from
 * the whole number's own value can the division say anything else. */
TVM_PULP_INLINE int32_t tvm_pulp_quantize(float x, float scale, float reciprocal, float sure, int32_t zero, int32_t low,
                                          int32_t high) {
#if defined(TVM_PULP_SOFT_FLOAT)
  int32_t whole;
  (void)sure; /* In units behind the point it depends on the range alone. */
  if (!tvm_pulp_soft_round_quotient(tvm_pulp_float_bits(x), tvm_pulp_float_bits(reciprocal), high - low > 255 ? 128 : 8,
                                    &whole)) {
    return tvm_pulp_quantize_close(x, scale, zero, low, high);
  }
  whole += zero;
  return whole < low ? low : whole > high ? high : whole;
#else
  float sum = tvm_pulp_fma(x, reciprocal, TVM_PULP_UNITS);
  float rest = tvm_pulp_fma(TVM_PULP_UNITS - sum, scale, x);
  int32_t whole = (int32_t)tvm_pulp_float_bits(sum), lowest = TVM_PULP_UNITS_BITS + low - zero;
  uint32_t place = (uint32_t)whole - (uint32_t)lowest, most = (uint32_t)(high - low);
  /* Without its sign, a float's bits are ordered as the floats are. */
  if (__builtin_expect(tvm_pulp_float_bits(rest) << 1 >= tvm_pulp_float_bits(sure) << 1, 0)) {
    return tvm_pulp_quantize_close(x, scale, zero, low, high);
  }
  if (__builtin_expect(place > most, 0)) place = whole < lowest ? 0u : most;
  return (int32_t)place + low;
#endif
}

#endif /* TVM_PULP_FLOAT_H */
