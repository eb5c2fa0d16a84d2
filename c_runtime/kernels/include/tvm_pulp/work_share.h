/* SPDX-License-Identifier: Apache-2.0
 *
 * Which part of the work is this core's: contiguous, and no core has more than one item above any other. */
#ifndef TVM_PULP_WORK_SHARE_H
#define TVM_PULP_WORK_SHARE_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

struct tvm_pulp_range {
  uint32_t begin;
  uint32_t end;
};

TVM_PULP_INLINE struct tvm_pulp_range tvm_pulp_share(uint32_t items, uint32_t core, uint32_t cores) {
  /* A division by a small number takes 30 cycles, and eight is the usual one. */
  uint32_t each = cores == 8u ? items >> 3 : items / cores;
  uint32_t rest = items - each * cores;
  struct tvm_pulp_range range;
  range.begin = each * core + (core < rest ? core : rest);
  range.end = range.begin + each + (core < rest ? 1u : 0u);
  return range;
}

/* The same in units of `unit` items, the last of which may be smaller; `unit` is a power of two. */
TVM_PULP_INLINE struct tvm_pulp_range tvm_pulp_share_units(uint32_t items, uint32_t unit, uint32_t core,
                                                           uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share((items + unit - 1u) / unit, core, cores);
  range.begin *= unit;
  range.end *= unit;
  if (range.begin > items) range.begin = items;
  if (range.end > items) range.end = items;
  return range;
}

#endif /* TVM_PULP_WORK_SHARE_H */
