/* SPDX-License-Identifier: Apache-2.0
 *
 * The sum of one short row: fetching code is most of what it takes, so there is little of it. */
#ifndef TVM_PULP_ADD_FEW_H
#define TVM_PULP_ADD_FEW_H

#include "tvm_pulp/kernels.h"

#define TVM_PULP_ADD_FEW 128u /* elements, at most */

/* Operands of bytes without tables, the narrow PULP form, one row. */
void tvm_pulp_add_few(const struct tvm_pulp_add_args *p, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_ADD_FEW_H */
