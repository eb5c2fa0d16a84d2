/* SPDX-License-Identifier: Apache-2.0
 *
 * The only row that an engine leaves: fetching code is most of what it takes, so there is little of it. */
#ifndef TVM_PULP_REQUANTIZE_ROW_H
#define TVM_PULP_REQUANTIZE_ROW_H

#include "tvm_pulp/kernels.h"

/* 32-bit numbers of channels in fours, each with a summand and a shift, to bytes that one instruction clips. */
void tvm_pulp_requantize_row_of_shifts(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_REQUANTIZE_ROW_H */
