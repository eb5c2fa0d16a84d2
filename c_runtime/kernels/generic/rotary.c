/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/past_attention.h"

TVM_PULP_KERNEL(rotary) { tvm_pulp_plain_rotary(args, core, cores); }
