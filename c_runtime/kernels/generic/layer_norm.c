/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/norm.h"

TVM_PULP_KERNEL(layer_norm) { tvm_pulp_plain_layer_norm(args, core, cores); }
