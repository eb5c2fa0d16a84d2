/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/depthwise_conv2d.h"

TVM_PULP_KERNEL(depthwise_conv2d) { tvm_pulp_plain_depthwise_conv2d(args, core, cores); }
