/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/space_to_depth.h"

TVM_PULP_KERNEL(space_to_depth) { tvm_pulp_plain_space_to_depth(args, core, cores); }
