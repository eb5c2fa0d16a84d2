/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of four channels of some rows, shared by cores. */
#ifndef TVM_PULP_GROUP_SHARE_H
#define TVM_PULP_GROUP_SHARE_H

#include "tvm_pulp/work_share.h"

/* A core's part of the groups of four channels, and of what each has to do. */
struct tvm_pulp_group_share {
  uint32_t first, step;
  struct tvm_pulp_range range;
};

/* Groups where there are enough of them; one group and a part of its rows where as many cores can take each; else all
 * groups and a part of their rows, unless beginning that many groups takes a core longer than all rows of one: `begun`
 * is what that takes, in rows. */
static inline struct tvm_pulp_group_share tvm_pulp_share_groups(uint32_t groups, uint32_t rows, uint32_t begun,
                                                                uint32_t core, uint32_t cores) {
  struct tvm_pulp_group_share s = {core, cores, {0, rows}};
  if (groups >= cores) return s;
  if ((groups == 2u || groups == 4u) && (cores & (groups - 1u)) == 0u) {
    uint32_t half = groups >> 1;
    s.first = core & (groups - 1u);
    s.step = groups;
    core >>= half;
    cores >>= half;
  } else if (rows * (cores - groups) > begun * groups * cores) {
    s.first = 0;
    s.step = 1;
  } else {
    return s;
  }
  s.range = tvm_pulp_share(rows, core, cores);
  return s;
}

/* FOUR(args, first channel, first row, rows) of each group of four channels that is this core's. Beginning a group
 * takes about as long as four rows of one. */
#define TVM_PULP_EACH_GROUP(FOUR)                                                             \
  const uint32_t groups = args->columns >> 2;                                                 \
  struct tvm_pulp_group_share s = tvm_pulp_share_groups(groups, args->rows, 4u, core, cores); \
  if (s.range.begin == s.range.end) return;                                                   \
  for (; s.first < groups; s.first += s.step) {                                               \
    FOUR(args, 4u * s.first, s.range.begin, s.range.end - s.range.begin);                     \
  }

#endif /* TVM_PULP_GROUP_SHARE_H */
