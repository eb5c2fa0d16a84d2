/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/integer.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

TVM_PULP_KERNEL(requantize_add) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows * args->columns, core, cores);
  const int32_t flip = args->y_type == TVM_PULP_INT8 ? 0 : 128;
  for (uint32_t i = range.begin; i < range.end; ++i) {
    const uint32_t column = i % args->columns;
    const int32_t *stage = args->stages + 12u * (column >> 2) + (column & 3u);
    const int32_t first = tvm_pulp_max(-128, tvm_pulp_min(127, (args->x[i] + stage[4]) >> stage[0]));
    const int32_t second = (first * args->mul + stage[8]) >> args->shift;
    args->y[i] = (uint8_t)(tvm_pulp_max(-128, tvm_pulp_min(127, second)) + flip);
  }
}
