/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/matmul.h"

TVM_PULP_KERNEL(matmul) { tvm_pulp_plain_matmul(args, core, cores); }
