/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

enum { ENTRIES = 256 };

TVM_PULP_KERNEL(spread_lookup) {
  struct tvm_pulp_range range = tvm_pulp_share(args->count, core, cores);
  const uint8_t *table = args->table + core % args->tables * ENTRIES;
  for (uint32_t i = range.begin; i < range.end; ++i) args->y[i] = table[args->x[i]];
}
