/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/movement.h"

TVM_PULP_KERNEL(copy_rows) { tvm_pulp_plain_copy_rows(args, core, cores); }
