/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/past_parts.h"

TVM_PULP_KERNEL(past_scores) { tvm_pulp_plain_past_scores(args, core, cores); }
