/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/im2col.h"

TVM_PULP_KERNEL(im2col) { tvm_pulp_im2col_share(args, core, cores); }
