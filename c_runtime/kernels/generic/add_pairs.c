/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/add_pairs.h"

TVM_PULP_KERNEL(add_pairs) { tvm_pulp_plain_add_pairs(args, core, cores); }
