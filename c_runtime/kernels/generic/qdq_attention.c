/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/qdq_attention.h"

TVM_PULP_KERNEL(qdq_attention) { tvm_pulp_plain_qdq_attention(args, core, cores); }
