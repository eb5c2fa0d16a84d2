/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/mean_pool.h"

TVM_PULP_KERNEL(mean_pool) { tvm_pulp_plain_mean_pool(args, core, cores); }
