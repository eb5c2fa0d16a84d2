/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/attention.h"

TVM_PULP_KERNEL(rope) { tvm_pulp_plain_rope(args, core, cores); }
