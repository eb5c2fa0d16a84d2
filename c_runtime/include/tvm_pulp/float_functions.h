/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of floats in tens of instructions, within four units in the last place; the same bits on every machine. The
 * folder `math` has the same functions within two units, and many more. */
#ifndef TVM_PULP_FLOAT_FUNCTIONS_H
#define TVM_PULP_FLOAT_FUNCTIONS_H

#include "tvm_pulp/float.h"

#define TVM_PULP_SEPARATE static __attribute__((noinline, unused))

/* Long functions come twice: called, unless a compiler knows better, and as part of a loop, whose registers then hold
 * their many constants. */
#define TVM_PULP_LONG(name) \
  static __attribute__((unused)) float tvm_pulp_##name(float x) { return tvm_pulp_inline_##name(x); }

/* ln(2) in two parts; the first has so few bits that its product with any whole number here is exact. */
#define TVM_PULP_LN2_HIGH 0x1.62e4p-1f
#define TVM_PULP_LN2_LOW 0x1.7f7d1cp-20f
#define TVM_PULP_LOG2_E 0x1.715476p+0f

/* exp(x) = 2^n * exp(r) with |r| <= ln(2)/2, for |x| <= 87: 2^n is a summand of the exponent. */
TVM_PULP_INLINE float tvm_pulp_near_exp(float x) {
  float sum = tvm_pulp_fma(x, TVM_PULP_LOG2_E, TVM_PULP_UNITS), n = sum - TVM_PULP_UNITS;
  float r = tvm_pulp_fnma(n, TVM_PULP_LN2_LOW, tvm_pulp_fnma(n, TVM_PULP_LN2_HIGH, x));
  /* exp(r) = 1 + r + r^2 * P(r); a minimax fit with an error below 2^-28. */
  float p = tvm_pulp_fma(0x1.6d781p-10f, r, 0x1.123adap-7f);
  p = tvm_pulp_fma(p, r, 0x1.5554c2p-5f);
  p = tvm_pulp_fma(p, r, 0x1.55549p-3f);
  p = tvm_pulp_fma(p, r, 0.5f);
  float result = 1.0f + tvm_pulp_fma(r * r, p, r);
  return tvm_pulp_float_of(tvm_pulp_float_bits(result) + (tvm_pulp_float_bits(sum) << 23));
}

TVM_PULP_SEPARATE float tvm_pulp_far_exp(float x) {
  if (x != x) return x;
  if (x > 0x1.62e430p+6f) return __builtin_inff();
  if (x < -0x1.9fe368p+6f) return 0.0f;
  float root = tvm_pulp_near_exp(0.5f * x);
  return root * root;
}

TVM_PULP_INLINE float tvm_pulp_exp(float x) {
  if (__builtin_expect(tvm_pulp_float_bits(x) << 1 > 0x42ae0000u << 1, 0)) return tvm_pulp_far_exp(x);
  return tvm_pulp_near_exp(x);
}

/* exp(x) of a number that is not positive; what is no normal float any more is zero. */
TVM_PULP_INLINE float tvm_pulp_exp_below(float x) {
  if (__builtin_expect(!(x >= -87.0f), 0)) return x == x ? 0.0f : x;
  return tvm_pulp_near_exp(x);
}

TVM_PULP_INLINE float tvm_pulp_inline_sigmoid(float x) { return tvm_pulp_divide(1.0f, 1.0f + tvm_pulp_exp(-x)); }
TVM_PULP_LONG(sigmoid)

TVM_PULP_INLINE float tvm_pulp_with_sign_of(float magnitude, float sign) {
  return tvm_pulp_float_of((tvm_pulp_float_bits(magnitude) & 0x7fffffffu) | (tvm_pulp_float_bits(sign) & 0x80000000u));
}

TVM_PULP_INLINE float tvm_pulp_inline_tanh(float x) {
  float magnitude = tvm_pulp_float_of(tvm_pulp_float_bits(x) & 0x7fffffffu);
  if (magnitude < 0.625f) {
    /* x + x^3 P(x^2), minimax fit with an error below 2^-31; exact for tiny arguments. */
    float z = x * x;
    float p = tvm_pulp_fma(0x1.06e6dcp-9f, z, -0x1.06e782p-7f);
    p = tvm_pulp_fma(p, z, 0x1.627f1ep-6f);
    p = tvm_pulp_fma(p, z, -0x1.b9d594p-5f);
    p = tvm_pulp_fma(p, z, 0x1.110fe6p-3f);
    p = tvm_pulp_fma(p, z, -0x1.555552p-2f);
    return tvm_pulp_fma(x, z * p, x);
  }
  /* From here on 1 - tanh is below a quarter of a unit in the last place of 1; comparisons with NaN are false. */
  if (magnitude > 9.5f) return tvm_pulp_with_sign_of(1.0f, x);
  if (x != x) return x;
  float e = tvm_pulp_near_exp(2.0f * magnitude);
  return tvm_pulp_with_sign_of(tvm_pulp_fnma(2.0f, tvm_pulp_near_reciprocal(e + 1.0f), 1.0f), x);
}
TVM_PULP_LONG(tanh)

TVM_PULP_INLINE float tvm_pulp_inline_erf(float x) {
  float magnitude = tvm_pulp_float_of(tvm_pulp_float_bits(x) & 0x7fffffffu);
  if (magnitude < 1.0f) {
    /* x + x P(x^2), minimax fit with an error below 2^-29. */
    float z = x * x;
    float p = tvm_pulp_fma(0x1.4c344ep-14f, z, -0x1.a50b0ep-11f);
    p = tvm_pulp_fma(p, z, 0x1.542e1p-8f);
    p = tvm_pulp_fma(p, z, -0x1.b7fe9p-6f);
    p = tvm_pulp_fma(p, z, 0x1.ce2d5p-4f);
    p = tvm_pulp_fma(p, z, -0x1.81274p-2f);
    p = tvm_pulp_fma(p, z, 0x1.06eba8p-3f);
    return tvm_pulp_fma(x, p, x);
  }
  /* From here on 1 - erf is below half a unit in the last place of 1. */
  if (magnitude > 3.95f) return tvm_pulp_with_sign_of(1.0f, x);
  if (x != x) return x;
  /* log(1 - erf(x)), minimax fit; its error weighted with 1 - erf(x) is below 2^-35. */
  float p = tvm_pulp_fma(-0x1.6bf48ap-16f, magnitude, 0x1.cedf9ep-12f);
  p = tvm_pulp_fma(p, magnitude, -0x1.139624p-8f);
  p = tvm_pulp_fma(p, magnitude, 0x1.9d0a6p-6f);
  p = tvm_pulp_fma(p, magnitude, -0x1.bc1868p-4f);
  p = tvm_pulp_fma(p, magnitude, -0x1.4434f8p-1f);
  p = tvm_pulp_fma(p, magnitude, -0x1.212c2cp+0f);
  p = tvm_pulp_fma(p, magnitude, 0x1.8b3edp-13f);
  return tvm_pulp_with_sign_of(1.0f - tvm_pulp_near_exp(p), x);
}
TVM_PULP_LONG(erf)

/* 1 / sqrt(x) of a number from 2^-118 to 2^117. */
TVM_PULP_INLINE float tvm_pulp_near_rsqrt(float x) {
  float y = tvm_pulp_float_of(0x5f375a86u - (tvm_pulp_float_bits(x) >> 1)), half = 0.5f * x;
  y = tvm_pulp_fma(y, tvm_pulp_fnma(half * y, y, 0.5f), y);
  y = tvm_pulp_fma(y, tvm_pulp_fnma(half * y, y, 0.5f), y);
  return tvm_pulp_fma(y, tvm_pulp_fnma(half * y, y, 0.5f), y);
}

/* Root of anything else: zero, negative, tiny, huge, infinite. Exact powers of two bring it near 1 and back. */
TVM_PULP_SEPARATE float tvm_pulp_far_sqrt(float x) {
  if (x < 0.0f) return __builtin_nanf("");
  if (!(x > 0.0f) || x - x != 0.0f) return x;
  float near = x < 1.0f ? x * 0x1p64f : x * 0x1p-64f;
  return near * tvm_pulp_near_rsqrt(near) * (x < 1.0f ? 0x1p-32f : 0x1p32f);
}

TVM_PULP_INLINE float tvm_pulp_sqrt(float x) {
  if (__builtin_expect(tvm_pulp_float_bits(x) - 0x04800000u >= 0x75800000u, 0)) return tvm_pulp_far_sqrt(x);
  return x * tvm_pulp_near_rsqrt(x);
}

TVM_PULP_INLINE float tvm_pulp_rsqrt(float x) {
  if (__builtin_expect(tvm_pulp_float_bits(x) - 0x04800000u >= 0x75800000u, 0)) return 1.0f / tvm_pulp_far_sqrt(x);
  return tvm_pulp_near_rsqrt(x);
}

#endif /* TVM_PULP_FLOAT_FUNCTIONS_H */
