/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/add_accumulators.h"

TVM_PULP_KERNEL(add_accumulators) { tvm_pulp_plain_add_accumulators(args, core, cores); }
