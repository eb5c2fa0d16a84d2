/* SPDX-License-Identifier: Apache-2.0
 *
 * Halves to even of columns of 32-bit numbers. */
#ifndef TVM_PULP_TO_EVEN_H
#define TVM_PULP_TO_EVEN_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"

/* Whether the loops can: results of a byte, a range that one instruction clips, and more rows than they take to begin. */
static inline uint32_t tvm_pulp_is_half_even(const struct tvm_pulp_requant *r, uint32_t rows) {
  return r->kind == TVM_PULP_REQUANT_HALF_EVEN && !r->wide_result && (r->low == 0 || r->low == ~r->high) && rows > 4u;
}

/* Every `step`-th of the columns from `first` on of all rows, each with a rule of its own. */
void tvm_pulp_half_even_columns(const struct tvm_pulp_requantize_args *args, uint32_t first, uint32_t step);

#endif /* TVM_PULP_TO_EVEN_H */
