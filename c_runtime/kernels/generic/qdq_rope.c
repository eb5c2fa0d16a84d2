/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/qdq_rope.h"

TVM_PULP_KERNEL(qdq_rope) { tvm_pulp_plain_qdq_rope(args, core, cores); }
