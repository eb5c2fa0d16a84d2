/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/norm.h"

TVM_PULP_KERNEL(rms_norm) { tvm_pulp_plain_rms_norm(args, core, cores); }
