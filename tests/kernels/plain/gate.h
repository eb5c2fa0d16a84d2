/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of bytes and of table entries. */
#ifndef TVM_PULP_TWIN_GATE_H
#define TVM_PULP_TWIN_GATE_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_gate(const struct tvm_pulp_gate_args *p, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(p->count, core, cores);
  for (uint32_t i = range.begin; i < range.end; ++i) tvm_pulp_finish(&p->requant, p->y, i, p->table[p->a[i]] * p->b[i], 0);
}

#endif /* TVM_PULP_TWIN_GATE_H */
