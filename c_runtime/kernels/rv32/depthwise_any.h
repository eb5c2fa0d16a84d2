/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of any window. */
#ifndef TVM_PULP_RV32_DEPTHWISE_ANY_H
#define TVM_PULP_RV32_DEPTHWISE_ANY_H

#include "tvm_pulp/kernels.h"

void tvm_pulp_depthwise_any(const struct tvm_pulp_depthwise_conv2d_args *args, uint32_t core, uint32_t cores);

#endif /* TVM_PULP_RV32_DEPTHWISE_ANY_H */
