/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer arithmetic that the generated kernels are made of. Everything is inline, free of libc, and defined for
 * every input: shifts of negative numbers are arithmetic on all supported compilers. */
#ifndef TVM_PULP_INTEGER_H
#define TVM_PULP_INTEGER_H

#include <stdint.h>

/* Cores without a float unit compute floats with integers; so does who defines this before. */
#if defined(__riscv) && !defined(__riscv_flen)
#define TVM_PULP_SOFT_FLOAT
#endif

#if defined(__GNUC__)
#define TVM_PULP_INLINE static inline __attribute__((always_inline, unused))
/* A branch is best taken seldom. */
#define TVM_PULP_SELDOM(condition) __builtin_expect(condition, 0)
#else
#define TVM_PULP_INLINE static inline
#define TVM_PULP_SELDOM(condition) (condition)
#endif

TVM_PULP_INLINE int32_t tvm_pulp_min(int32_t a, int32_t b) { return a < b ? a : b; }
TVM_PULP_INLINE int32_t tvm_pulp_max(int32_t a, int32_t b) { return a > b ? a : b; }

TVM_PULP_INLINE int32_t tvm_pulp_clip(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}

TVM_PULP_INLINE int32_t tvm_pulp_clip_wide(int64_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : (int32_t)value;
}

/* Shifts by 32 or more give what a wider shifter would. */
TVM_PULP_INLINE int32_t tvm_pulp_shift_right(int32_t value, int32_t bits) { return value >> (bits > 31 ? 31 : bits); }

/* --- requantization ------------------------------------------------------------------------------------------- */

/* PULP form; the caller has proven that the product and the sum stay inside 32 bits. */
TVM_PULP_INLINE int32_t tvm_pulp_requantize(int32_t acc, int32_t mul, int32_t add, int32_t shift, int32_t low,
                                            int32_t high) {
  return tvm_pulp_clip((acc * mul + add) >> shift, low, high);
}

TVM_PULP_INLINE int32_t tvm_pulp_requantize_wide(int32_t acc, int32_t mul, int32_t add, int32_t shift, int32_t low,
                                                 int32_t high) {
  return tvm_pulp_clip_wide(((int64_t)acc * mul + add) >> shift, low, high);
}

/* High half of 2*a*b, rounded to nearest, halves up; never called with both operands INT32_MIN. */
TVM_PULP_INLINE int32_t tvm_pulp_doubling_high_multiply(int32_t a, int32_t b) {
  return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* Divide by 2^bits, rounding half away from zero. */
TVM_PULP_INLINE int32_t tvm_pulp_rounding_shift(int32_t value, int32_t bits) {
  int32_t mask = (int32_t)(((uint32_t)1 << bits) - 1);
  int32_t threshold = (mask >> 1) + (value < 0 ? 1 : 0);
  return (value >> bits) + ((value & mask) > threshold ? 1 : 0);
}

TVM_PULP_INLINE int32_t tvm_pulp_scale_tflite(int32_t value, int32_t mul, int32_t exponent) {
  int32_t left = exponent > 0 ? exponent : 0;
  int32_t right = exponent > 0 ? 0 : -exponent;
  int32_t shifted = (int32_t)((uint32_t)value << left);
  return tvm_pulp_rounding_shift(tvm_pulp_doubling_high_multiply(shifted, mul), right);
}

TVM_PULP_INLINE int32_t tvm_pulp_requantize_tflite(int32_t acc, int32_t mul, int32_t exponent, int32_t zero_point,
                                                   int32_t low, int32_t high) {
  return tvm_pulp_clip(tvm_pulp_scale_tflite(acc, mul, exponent) + zero_point, low, high);
}

/* The same where acc * mul / 2^30 is below 2^31 and so is that quotient with the zero point and a half; 2 * acc is
 * below 2^31, mul not negative, the exponent -20 to -1. The first rounding and a shift of one more are the second
 * one's: both are one shift, and a quotient below zero is two units less because halves are rounded away from zero. */
TVM_PULP_INLINE int32_t tvm_pulp_requantize_tflite_short(int32_t acc, int32_t mul, int32_t exponent, int32_t zero_point,
                                                         int32_t low, int32_t high) {
  int32_t shift = 1 - exponent, summand = 1 + (1 << (shift - 1)) + zero_point * (1 << shift);
  int32_t quotient = (int32_t)((int64_t)(acc * 2) * (int64_t)((uint32_t)mul << 1) >> 32);
  if (low < zero_point) quotient += (quotient >> 31) * 2;
  quotient = (quotient + summand) >> shift;
  if (TVM_PULP_SELDOM(quotient < low)) quotient = low;
  if (TVM_PULP_SELDOM(quotient > high)) quotient = high;
  return quotient;
}

/* acc * mul / 2^shift rounded to nearest, ties up; shift is 1 to 62 and |mul| < 2^31. */
TVM_PULP_INLINE int32_t tvm_pulp_requantize_half_up(int32_t acc, int32_t mul, int32_t shift, int32_t zero_point,
                                                    int32_t low, int32_t high) {
  if (shift > 32 && shift < 63) {
    /* What is below the high word of the product cannot change the result; the word and half a unit have 31 bits. */
    int32_t right = shift - 32, upper = (int32_t)((int64_t)acc * mul >> 32);
    return tvm_pulp_clip(((upper + (1 << (right - 1))) >> right) + zero_point, low, high);
  }
  int64_t value = ((int64_t)acc * mul + ((int64_t)1 << (shift - 1))) >> shift;
  return tvm_pulp_clip_wide(value + zero_point, low, high);
}

/* The same for |acc| < 2^47, by its upper part and its last bits: the whole product may need more than 64 bits. */
TVM_PULP_INLINE int32_t tvm_pulp_requantize_half_up_64(int64_t acc, int32_t mul, int32_t shift, int32_t zero_point,
                                                       int32_t low, int32_t high) {
  int32_t less = tvm_pulp_min(shift - 1, 16);
  int64_t rest = ((acc & (((int64_t)1 << less) - 1)) * mul + ((int64_t)1 << (shift - 1))) >> less;
  return tvm_pulp_clip_wide((((acc >> less) * mul + rest) >> (shift - less)) + zero_point, low, high);
}

/* product / 2^shift rounded to nearest, ties to even; shift is 1 to 62. */
TVM_PULP_INLINE int64_t tvm_pulp_shift_half_even(int64_t product, int32_t shift) {
  int64_t half = (int64_t)1 << (shift - 1);
  int64_t quotient = product >> shift;
  int64_t rest = product & (half + (half - 1));
  return quotient + ((rest > half || (rest == half && (quotient & 1) != 0)) ? 1 : 0);
}

TVM_PULP_INLINE int32_t tvm_pulp_requantize_half_even(int32_t acc, int32_t mul, int32_t shift, int32_t zero_point,
                                                      int32_t low, int32_t high) {
  return tvm_pulp_clip_wide(tvm_pulp_shift_half_even((int64_t)acc * mul, shift) + zero_point, low, high);
}

/* acc * mul + offset; the offset is a multiple of 64, and `packed` the sum of offset and shift. */
TVM_PULP_INLINE int32_t tvm_pulp_requantize_offset_half_even(int32_t acc, int32_t mul, int32_t packed,
                                                             int32_t zero_point, int32_t low, int32_t high) {
  int32_t shift = packed & 63;
  int64_t product = (int64_t)acc * mul + (packed - shift);
  return tvm_pulp_clip_wide(tvm_pulp_shift_half_even(product, shift) + zero_point, low, high);
}

/* (a * mul_a + b * mul_b) / 2^shift rounded to nearest, ties to even. */
TVM_PULP_INLINE int32_t tvm_pulp_add_half_even(int32_t a, int32_t mul_a, int32_t b, int32_t mul_b, int32_t shift,
                                               int32_t zero_point, int32_t low, int32_t high) {
  int64_t sum = (int64_t)a * mul_a + (int64_t)b * mul_b;
  return tvm_pulp_clip_wide(tvm_pulp_shift_half_even(sum, shift) + zero_point, low, high);
}

/* --- division and roots --------------------------------------------------------------------------------------- */

TVM_PULP_INLINE int32_t tvm_pulp_floor_divide_32(int32_t a, int32_t b) {
  int32_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

TVM_PULP_INLINE int32_t tvm_pulp_floor_modulo_32(int32_t a, int32_t b) {
  int32_t rest = b == -1 ? 0 : a % b; /* the smallest number has no quotient by -1 */
  return rest + ((rest != 0 && (rest < 0) != (b < 0)) ? b : 0);
}

TVM_PULP_INLINE int64_t tvm_pulp_floor_divide_64(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

TVM_PULP_INLINE int64_t tvm_pulp_floor_modulo_64(int64_t a, int64_t b) {
  int64_t rest = b == -1 ? 0 : a % b;
  return rest + ((rest != 0 && (rest < 0) != (b < 0)) ? b : 0);
}

TVM_PULP_INLINE int32_t tvm_pulp_floor_divide(int64_t a, int64_t b) { return (int32_t)tvm_pulp_floor_divide_64(a, b); }

/* Half away from zero; the divisor is positive. */
TVM_PULP_INLINE int32_t tvm_pulp_round_divide_32(int32_t a, int32_t b) {
  return a >= 0 ? (a + b / 2) / b : (a - b / 2) / b;
}

TVM_PULP_INLINE int32_t tvm_pulp_round_divide(int64_t a, int64_t b) {
  int64_t half = b / 2 - ((b % 2 != 0 && b < 0) ? 1 : 0);
  return (int32_t)((a < 0 ? a - half : a + half) / b);
}

/* Floor of the square root of a non-negative number, one bit at a time. */
TVM_PULP_INLINE int32_t tvm_pulp_isqrt(int32_t value) {
  uint32_t rest = (uint32_t)value, root = 0, bit = (uint32_t)1 << 30;
  while (bit > rest) bit >>= 2;
  for (; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return (int32_t)root;
}

/* --- activation functions ------------------------------------------------------------------------------------- */

TVM_PULP_INLINE int32_t tvm_pulp_gelu(int32_t x, int32_t b, int32_t one) {
  int32_t magnitude = x < 0 ? -x : x;
  int32_t d = (magnitude < -b ? magnitude : -b) + b;
  int32_t gate = one - d * d;
  int32_t signed_gate = x < 0 ? -gate : x > 0 ? gate : 0;
  return x * ((one + signed_gate) >> 1);
}

/* Polynomial exponential of t <= 0: (a * (p + b)^2 + c) >> z with t = p - z * log2. */
TVM_PULP_INLINE int32_t tvm_pulp_i_exp(int32_t t, int32_t a, int32_t b, int32_t c, int32_t log2) {
  int32_t z = -t / log2;
  if (z > 31) z = 31;
  int32_t p = t + z * log2 + b;
  return (a * (p * p) + c) >> z;
}

#endif /* TVM_PULP_INTEGER_H */
