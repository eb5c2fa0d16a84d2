/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of quantize/dequantize graphs. */
#ifndef TVM_PULP_TWIN_QDQ_MUL_H
#define TVM_PULP_TWIN_QDQ_MUL_H

#include "tvm_pulp/plain/qdq_mul.h"

static inline void tvm_pulp_plain_qdq_mul(const struct tvm_pulp_qdq_mul_args *args, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    tvm_pulp_plain_qdq_mul_piece(args, args->a + row * args->columns, args->b + row * args->b_stride,
                                 args->y + row * args->columns, args->columns);
  }
}

#endif /* TVM_PULP_TWIN_QDQ_MUL_H */
