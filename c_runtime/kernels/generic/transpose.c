/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/movement.h"

TVM_PULP_KERNEL(transpose) { tvm_pulp_plain_transpose(args, core, cores); }
