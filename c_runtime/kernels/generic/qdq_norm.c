/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/qdq_norm.h"

TVM_PULP_KERNEL(qdq_norm) { tvm_pulp_plain_qdq_norm(args, core, cores); }
