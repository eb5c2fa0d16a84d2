/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/attention.h"

TVM_PULP_KERNEL(attention) { tvm_pulp_plain_attention(args, core, cores); }
