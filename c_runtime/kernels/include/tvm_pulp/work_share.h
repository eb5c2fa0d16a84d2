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

/* Bytes in words: the last share may be smaller. Long shares are an odd number of words, so that cores which walk
 * through one tensor side by side start in different banks. */
TVM_PULP_INLINE struct tvm_pulp_range tvm_pulp_share_words(uint32_t items, uint32_t core, uint32_t cores) {
  uint32_t words = (items + 3u) >> 2;
  uint32_t each = cores == 8u ? (words + 7u) >> 3 : (words + cores - 1u) / cores;
  struct tvm_pulp_range range;
  if (each >= 32u) each |= 1u;
  each *= 4u;
  range.begin = each * core < items ? each * core : items;
  range.end = range.begin + each < items ? range.begin + each : items;
  return range;
}

#endif /* TVM_PULP_WORK_SHARE_H */
