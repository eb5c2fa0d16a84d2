/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/resize.h"

TVM_PULP_KERNEL(resize) { tvm_pulp_plain_resize(args, core, cores); }
