/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/conv2d.h"

TVM_PULP_KERNEL(conv2d) { tvm_pulp_plain_conv2d(args, core, cores); }
