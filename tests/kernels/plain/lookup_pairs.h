/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of two bytes. */
#ifndef TVM_PULP_TWIN_LOOKUP_PAIRS_H
#define TVM_PULP_TWIN_LOOKUP_PAIRS_H

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_lookup_pairs(const struct tvm_pulp_lookup_pairs_args *p, uint32_t core,
                                               uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(p->count, core, cores);
  for (uint32_t i = range.begin; i < range.end; ++i) p->y[i] = p->table[256u * p->a[i] + p->b[i]];
}

#endif /* TVM_PULP_TWIN_LOOKUP_PAIRS_H */
