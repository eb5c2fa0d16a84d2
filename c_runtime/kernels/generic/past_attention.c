/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/past_attention.h"

TVM_PULP_KERNEL(past_attention) { tvm_pulp_plain_past_attention(args, core, cores); }
