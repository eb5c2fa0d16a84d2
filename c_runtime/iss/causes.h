/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the cycles of a hart went: causes that add up to all of them. */
#ifndef ISS_CAUSES_H
#define ISS_CAUSES_H

#include <stdint.h>

struct hart;

#define CAUSES_OF_CYCLES(X)                                                                                   \
  X(issue) X(load_use) X(l1_conflict) X(external_access) X(instruction_cache) X(branch_and_jump)              \
  X(multiply_and_divide) X(event_wait)

enum cause {
#define CAUSE(name) CAUSE_##name,
  CAUSES_OF_CYCLES(CAUSE)
#undef CAUSE
      CAUSES
};

/* Cycles by cause since the hart started, at a cycle of its clock. */
void hart_causes(const struct hart *hart, uint64_t now, uint64_t causes[CAUSES]);

#endif /* ISS_CAUSES_H */
