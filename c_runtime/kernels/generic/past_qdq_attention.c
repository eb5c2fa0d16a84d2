/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/past_qdq_attention.h"

TVM_PULP_KERNEL(past_qdq_attention) { tvm_pulp_plain_past_qdq_attention(args, core, cores); }
