/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/qdq_mul.h"

TVM_PULP_KERNEL(qdq_mul) { tvm_pulp_plain_qdq_mul(args, core, cores); }
