/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

TVM_PULP_KERNEL(dequantize) {
  struct tvm_pulp_range range = tvm_pulp_share(args->count, core, cores);
  for (uint32_t i = range.begin; i < range.end; ++i) {
    args->y[i] = (float)(tvm_pulp_load(args->x, i, args->x_type) - args->zero_point) * *args->scale;
  }
}
