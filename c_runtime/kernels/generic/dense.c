/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/dense.h"

TVM_PULP_KERNEL(dense) { tvm_pulp_plain_dense(args, core, cores); }
