/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/past_parts.h"

TVM_PULP_KERNEL(past_mean) { tvm_pulp_plain_past_mean(args, core, cores); }
