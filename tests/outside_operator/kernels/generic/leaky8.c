/* SPDX-License-Identifier: Apache-2.0 */
#include "leaky8.h"
#include "tvm_pulp/work_share.h"

TVM_PULP_KERNEL(leaky8) {
  struct tvm_pulp_range range = tvm_pulp_share_words(args->count, core, cores);
  for (uint32_t i = range.begin; i < range.end; ++i) {
    int32_t x = args->x[i];
    args->y[i] = (int8_t)(x >= 0 ? x : (x * args->slope + 64) >> 7);
  }
}
