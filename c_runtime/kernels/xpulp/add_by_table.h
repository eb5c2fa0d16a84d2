/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums whose results stand in a table. */
#ifndef TVM_PULP_ADD_BY_TABLE_H
#define TVM_PULP_ADD_BY_TABLE_H

#include "tvm_pulp/kernels.h"

/* The kernel `add`, where sum_table is given. */
void tvm_pulp_add_by_table(const struct tvm_pulp_add_args *args, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_ADD_BY_TABLE_H */
