/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/softmax.h"

TVM_PULP_KERNEL(i_softmax) { tvm_pulp_plain_i_softmax(args, core, cores); }
