/* SPDX-License-Identifier: Apache-2.0
 *
 * Float32 mathematics for emitted C on machines without a C library.
 *
 * Every function gives the same bits on every machine when built with -ffp-contract=off (the toolchain's default),
 * so that a run on the host predicts a run on the chip. Signs of zero, infinities and NaNs follow C11 Annex F;
 * floating-point exceptions and errno are not touched. Round-to-nearest is assumed. */
#ifndef TVM_PULP_MATH_H
#define TVM_PULP_MATH_H

#ifdef __cplusplus
extern "C" {
#endif

/* Within 2 units in the last place of the exact result. */
float tvm_pulp_expf(float x);
float tvm_pulp_logf(float x);
float tvm_pulp_tanhf(float x);
float tvm_pulp_erff(float x);
float tvm_pulp_powf(float x, float y);
float tvm_pulp_sinf(float x);
float tvm_pulp_cosf(float x);
float tvm_pulp_atan2f(float y, float x);
float tvm_pulp_rsqrtf(float x);

/* Correctly rounded. */
float tvm_pulp_sqrtf(float x);

/* Exact. */
float tvm_pulp_floorf(float x);
float tvm_pulp_ceilf(float x);
float tvm_pulp_truncf(float x);
float tvm_pulp_roundf(float x);     /* halves go away from zero */
float tvm_pulp_nearbyintf(float x); /* halves go to even */
float tvm_pulp_fabsf(float x);
float tvm_pulp_fmodf(float x, float y);   /* the sign of x */
float tvm_pulp_modulof(float x, float y); /* the sign of y, as in Python; rounded where a sum of both is */

#ifdef __cplusplus
}
#endif
#endif /* TVM_PULP_MATH_H */
