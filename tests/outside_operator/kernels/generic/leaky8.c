/* SPDX-License-Identifier: Apache-2.0 */
#include "leaky8.h"
#include "tvm_pulp/work_share.h"

TVM_PULP_KERNEL(leaky8) {
  struct tvm_pulp_range range = tvm_pulp_share_words(args->count, core, cores);
  const struct tvm_pulp_leaky8_args a = *args; /* a store of bytes could change what args points to */
  for (uint32_t i = range.begin; i < range.end; ++i) {
    int32_t x = a.x[i];
    a.y[i] = (int8_t)(x >= 0 ? x : (x * a.slope + 64) >> 7);
  }
}
