/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/elementwise.h"

TVM_PULP_KERNEL(add) { tvm_pulp_plain_add(args, core, cores); }
