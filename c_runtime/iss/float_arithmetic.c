/* SPDX-License-Identifier: Apache-2.0 */
#include "float_arithmetic.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "platform.h"

#define CANONICAL_NAN 0x7fc00000u
#define SMALLEST_NORMAL 0x00800000u

static float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static uint32_t as_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

static int is_nan(uint32_t a) { return (a & 0x7fffffff) > 0x7f800000; }
static int is_signaling(uint32_t a) { return is_nan(a) && !(a & 0x00400000); }

void float_collect_flags(struct hart *hart) {
  struct platform *platform = hart->platform;
  int raised;
  if (!platform->float_owner) return;
  raised = fetestexcept(FE_ALL_EXCEPT);
  if (raised) {
    uint32_t flags = 0;
    if (raised & FE_INEXACT) flags |= FLAG_INEXACT;
    if (raised & FE_UNDERFLOW) flags |= FLAG_UNDERFLOW;
    if (raised & FE_OVERFLOW) flags |= FLAG_OVERFLOW;
    if (raised & FE_DIVBYZERO) flags |= FLAG_DIVIDE_BY_ZERO;
    if (raised & FE_INVALID) flags |= FLAG_INVALID;
    platform->float_owner->fflags |= flags;
    feclearexcept(FE_ALL_EXCEPT);
  }
  platform->float_owner = NULL;
}

static void own_flags(struct hart *hart) {
  struct platform *platform = hart->platform;
  if (platform->float_owner == hart) return;
  if (platform->float_owner) float_collect_flags(hart);
  else feclearexcept(FE_ALL_EXCEPT); /* whatever the host did before */
  platform->float_owner = hart;
}

static uint32_t resolve_rounding(const struct hart *hart, uint32_t rounding) {
  return rounding == ROUND_DYNAMIC ? hart->frm : rounding;
}

static float compute(enum float_operation operation, uint32_t a, uint32_t b, uint32_t c) {
  /* volatile: the operation must happen between the changes of the rounding mode */
  volatile float x = as_float(a), y = as_float(b), z = as_float(c);
  switch (operation) {
    case FLOAT_ADD: return x + y;
    case FLOAT_SUB: return x - y;
    case FLOAT_MUL: return x * y;
    case FLOAT_DIV: return x / y;
    case FLOAT_SQRT: return sqrtf(x);
    case FLOAT_FMADD: return fmaf(x, y, z);
    case FLOAT_FMSUB: return fmaf(x, y, -z);
    case FLOAT_FNMSUB: return fmaf(-x, y, z);
    case FLOAT_FNMADD: return fmaf(-x, y, -z);
    case FLOAT_FROM_SIGNED: { volatile int32_t value = (int32_t)a; return (float)value; }
    default: { volatile uint32_t value = a; return (float)value; }
  }
}

/* Is the exact result the middle between two neighbouring floats? Their sum is exact in double precision, and so are
 * products of floats; sums are compared with their rounding error. */
static int is_halfway(enum float_operation operation, uint32_t a, uint32_t b, uint32_t c, float below, float above) {
  double middle = ((double)below + (double)above) / 2, x = (double)as_float(a), y = (double)as_float(b);
  double z = (double)as_float(c), sum, part;
  switch (operation) {
    case FLOAT_ADD: z = y; break;
    case FLOAT_SUB: z = -y; break;
    case FLOAT_MUL: return x * y == middle;
    case FLOAT_DIV: return middle * y == x;
    case FLOAT_SQRT: return 0; /* a root of a float never has one bit more than a float */
    case FLOAT_FMADD: x *= y; break;
    case FLOAT_FMSUB: x *= y; z = -z; break;
    case FLOAT_FNMSUB: x *= -y; break;
    case FLOAT_FNMADD: x *= -y; z = -z; break;
    case FLOAT_FROM_SIGNED: return (double)(int32_t)a == middle;
    default: return (double)a == middle;
  }
  sum = x + z;
  part = sum - x;
  return sum == middle && (x - (sum - part)) + (z - part) == 0;
}

/* Nearest, ties away from zero: the host has no such mode. Differs from ties to even only when a tie went down. */
static float compute_ties_away(enum float_operation operation, uint32_t a, uint32_t b, uint32_t c) {
  volatile float nearest = compute(operation, a, b, c), away;
  fenv_t flags;
  if (!isfinite(nearest)) return nearest;
  fegetenv(&flags);
  fesetround(signbit(nearest) ? FE_DOWNWARD : FE_UPWARD);
  away = compute(operation, a, b, c);
  fesetround(FE_TONEAREST);
  int ties = nearest != away && isfinite(away) && is_halfway(operation, a, b, c, nearest, away);
  fesetenv(&flags);
  return ties ? away : nearest;
}

static float compute_rounded(enum float_operation operation, uint32_t a, uint32_t b, uint32_t c, uint32_t rounding) {
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  volatile float result;
  if (rounding == ROUND_NEAREST_EVEN) return compute(operation, a, b, c);
  if (rounding == ROUND_NEAREST_AWAY) return compute_ties_away(operation, a, b, c);
  fesetround(modes[rounding]);
  result = compute(operation, a, b, c);
  fesetround(FE_TONEAREST);
  return result;
}

static uint32_t times_two_to_the_64(uint32_t a) { return as_bits(as_float(a) * 0x1p64f); }

/* Would the result be below the normal floats if there were exponents for it? The same operation 2^64 times as large
 * tells. What is inexact and that small has factors and summands for which this cannot overflow. */
static int is_tiny(enum float_operation operation, uint32_t a, uint32_t b, uint32_t c, uint32_t rounding) {
  fenv_t flags;
  float large;
  fegetenv(&flags);
  if (operation == FLOAT_DIV || (a & 0x7fffffff) < (b & 0x7fffffff)) a = times_two_to_the_64(a);
  else b = times_two_to_the_64(b);
  large = compute_rounded(operation, a, b, times_two_to_the_64(c), rounding);
  fesetenv(&flags);
  return fabsf(large) < 0x1p-62f;
}

/* Takes underflow from the host at once. RISC-V calls a result tiny after it is rounded, some hosts (Arm) before: they
 * disagree about results that are rounded up to the smallest normal float. */
static void note_underflow(struct hart *hart, enum float_operation operation, uint32_t a, uint32_t b, uint32_t c,
                           uint32_t rounding, uint32_t magnitude) {
  if (!fetestexcept(FE_UNDERFLOW)) return;
  feclearexcept(FE_UNDERFLOW);
  if (magnitude < SMALLEST_NORMAL || is_tiny(operation, a, b, c, rounding)) hart->fflags |= FLAG_UNDERFLOW;
}

uint32_t float_compute(struct hart *hart, enum float_operation operation, uint32_t a, uint32_t b, uint32_t c,
                       uint32_t rounding, int *legal) {
  float result;
  uint32_t magnitude;
  rounding = resolve_rounding(hart, rounding);
  *legal = rounding <= ROUND_NEAREST_AWAY;
  if (!*legal) return 0;
  own_flags(hart);
  result = compute_rounded(operation, a, b, c, rounding);
  magnitude = as_bits(result) & 0x7fffffff;
  if (magnitude <= SMALLEST_NORMAL) note_underflow(hart, operation, a, b, c, rounding, magnitude);
  if (operation >= FLOAT_FMADD && operation <= FLOAT_FNMADD) {
    /* infinity times zero is invalid even when the addend is a quiet NaN */
    uint32_t x = a & 0x7fffffff, y = b & 0x7fffffff;
    if ((x == 0x7f800000 && y == 0) || (x == 0 && y == 0x7f800000)) hart->fflags |= FLAG_INVALID;
  }
  return is_nan(as_bits(result)) ? CANONICAL_NAN : as_bits(result);
}

/* Done on the bits: host conversions would leave flags of their own. */
uint32_t float_to_integer(struct hart *hart, uint32_t a, int is_unsigned, uint32_t rounding, int *legal) {
  uint32_t exponent = (a >> 23) & 255, negative = a >> 31;
  uint64_t mantissa = (a & 0x7fffff) | (exponent ? 0x800000u : 0), whole, rest = 0, half = 0;
  uint64_t limit = is_unsigned ? (negative ? 0 : 0xffffffffull) : (negative ? 0x80000000ull : 0x7fffffffull);
  int away = 0;
  rounding = resolve_rounding(hart, rounding);
  *legal = rounding <= ROUND_NEAREST_AWAY;
  if (!*legal) return 0;
  if (is_nan(a)) {
    hart->fflags |= FLAG_INVALID;
    return is_unsigned ? 0xffffffffu : 0x7fffffffu;
  }
  if (exponent >= 150) {
    whole = exponent - 150 > 16 ? UINT32_MAX + 1ull : mantissa << (exponent - 150);
  } else { /* some bits lie behind the point: all of them from 2^-40 down */
    uint32_t shift = 150 - exponent > 40 ? 40 : 150 - exponent;
    whole = mantissa >> shift;
    rest = mantissa & ((1ull << shift) - 1);
    half = 1ull << (shift - 1);
  }
  switch (rounding) {
    case ROUND_NEAREST_EVEN: away = rest > half || (rest && rest == half && (whole & 1)); break;
    case ROUND_TO_ZERO: break;
    case ROUND_DOWN: away = rest && negative; break;
    case ROUND_UP: away = rest && !negative; break;
    default: away = rest && rest >= half; break;
  }
  whole += (uint64_t)away;
  if (whole > limit) {
    hart->fflags |= FLAG_INVALID;
    return (uint32_t)(negative ? (is_unsigned ? 0 : 0x80000000u) : limit);
  }
  if (rest) hart->fflags |= FLAG_INEXACT;
  return (uint32_t)(negative ? 0 - whole : whole);
}

uint32_t float_minimum(struct hart *hart, uint32_t a, uint32_t b, int maximum) {
  int a_first;
  if (is_signaling(a) || is_signaling(b)) hart->fflags |= FLAG_INVALID;
  if (is_nan(a)) return is_nan(b) ? CANONICAL_NAN : b;
  if (is_nan(b)) return a;
  /* order of the bit patterns as signed magnitudes, so that -0 < +0 */
  if ((a ^ b) >> 31) a_first = (int)(a >> 31);
  else a_first = a >> 31 ? a > b : a < b;
  return a_first != maximum ? a : b;
}

uint32_t float_equal(struct hart *hart, uint32_t a, uint32_t b) {
  if (is_signaling(a) || is_signaling(b)) hart->fflags |= FLAG_INVALID;
  if (is_nan(a) || is_nan(b)) return 0;
  return a == b || ((a | b) & 0x7fffffff) == 0;
}

uint32_t float_less(struct hart *hart, uint32_t a, uint32_t b, int or_equal) {
  if (is_nan(a) || is_nan(b)) {
    hart->fflags |= FLAG_INVALID;
    return 0;
  }
  return or_equal ? as_float(a) <= as_float(b) : as_float(a) < as_float(b);
}

uint32_t float_classify(uint32_t a) {
  uint32_t exponent = (a >> 23) & 255, fraction = a & 0x7fffff;
  int negative = (int)(a >> 31);
  if (is_nan(a)) return is_signaling(a) ? 1u << 8 : 1u << 9;
  if (exponent == 255) return negative ? 1u << 0 : 1u << 7;
  if (exponent == 0 && fraction == 0) return negative ? 1u << 3 : 1u << 4;
  if (exponent == 0) return negative ? 1u << 2 : 1u << 5;
  return negative ? 1u << 1 : 1u << 6;
}
