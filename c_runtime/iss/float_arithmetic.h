/* SPDX-License-Identifier: Apache-2.0
 *
 * Single-precision arithmetic on bit patterns: host floats, canonical NaN, RISC-V corner cases and exception flags.
 * Arithmetic flags stay in the host's sticky register until another hart computes or someone reads fflags. */
#ifndef ISS_FLOAT_ARITHMETIC_H
#define ISS_FLOAT_ARITHMETIC_H

#include <stdint.h>

struct hart;

enum { FLAG_INEXACT = 1, FLAG_UNDERFLOW = 2, FLAG_OVERFLOW = 4, FLAG_DIVIDE_BY_ZERO = 8, FLAG_INVALID = 16 };
enum { ROUND_NEAREST_EVEN, ROUND_TO_ZERO, ROUND_DOWN, ROUND_UP, ROUND_NEAREST_AWAY, ROUND_DYNAMIC = 7 };

enum float_operation { FLOAT_ADD, FLOAT_SUB, FLOAT_MUL, FLOAT_DIV, FLOAT_SQRT, FLOAT_FMADD, FLOAT_FMSUB, FLOAT_FNMSUB,
                       FLOAT_FNMADD, FLOAT_FROM_SIGNED, FLOAT_FROM_UNSIGNED };

/* Sets *legal to 0 for a rounding mode that does not exist. */
uint32_t float_compute(struct hart *hart, enum float_operation operation, uint32_t a, uint32_t b, uint32_t c,
                       uint32_t rounding, int *legal);
uint32_t float_to_integer(struct hart *hart, uint32_t a, int is_unsigned, uint32_t rounding, int *legal);
uint32_t float_minimum(struct hart *hart, uint32_t a, uint32_t b, int maximum);
uint32_t float_equal(struct hart *hart, uint32_t a, uint32_t b);
uint32_t float_less(struct hart *hart, uint32_t a, uint32_t b, int or_equal);
uint32_t float_classify(uint32_t a);

/* Move the host's sticky flags to the hart they belong to. */
void float_collect_flags(struct hart *hart);

#endif /* ISS_FLOAT_ARITHMETIC_H */
