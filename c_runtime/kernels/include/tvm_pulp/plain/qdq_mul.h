/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of quantize/dequantize graphs in plain C. */
#ifndef TVM_PULP_PLAIN_QDQ_MUL_H
#define TVM_PULP_PLAIN_QDQ_MUL_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/real.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_qdq_mul_piece(const struct tvm_pulp_qdq_mul_args *args, const uint8_t *a,
                                                const uint8_t *b, uint8_t *y, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    int32_t product = (tvm_pulp_load(a, i, args->a_type) - args->zero_point_a) *
                      (tvm_pulp_load(b, i, args->b_type) - args->zero_point_b);
    y[i] = (uint8_t)(tvm_pulp_round_within((float)product * *args->scale, args->low, args->high) + args->zero_point);
  }
}

#endif /* TVM_PULP_PLAIN_QDQ_MUL_H */
