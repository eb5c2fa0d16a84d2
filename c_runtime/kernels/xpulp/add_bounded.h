/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums with a range of results that no single instruction clips, as behind TFLite's ReLU. */
#ifndef TVM_PULP_ADD_BOUNDED_H
#define TVM_PULP_ADD_BOUNDED_H

#include "tvm_pulp/kernels.h"

/* Signed bytes in and out without tables, the narrow PULP form, one constant for all. */
void tvm_pulp_add_bounded(const struct tvm_pulp_add_args *args, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_ADD_BOUNDED_H */
