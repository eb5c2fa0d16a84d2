/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/softmax.h"

TVM_PULP_KERNEL(softmax_ita) { tvm_pulp_plain_softmax_ita(args, core, cores); }
