/* SPDX-License-Identifier: Apache-2.0
 *
 * The executor: all cores walk through a list of step records together. A record and what it points to lie in L1,
 * brought there by the DMA before anyone needs them, so that a layer costs data and not code.
 *
 * A step: core 0 issues commands, a team calls the function, core 0 waits, a team meets at a barrier where one is
 * needed. So teams that do not meet run different steps at the same time. */
#ifndef TVM_PULP_EXECUTOR_H
#define TVM_PULP_EXECUTOR_H

#include "tvm_pulp/hal.h"
#include "tvm_pulp/step_record.h"

/* Teams of a record: the one that meets, 0 where nobody does, and the one that calls the function, 0 where all do. */
#define TVM_PULP_MEETING_OF(control) ((control)&7u)
#define TVM_PULP_TEAM_OF(control) ((control) >> 3 & 7u)

/* Changes with the layout of records. */
#define TVM_PULP_EXECUTOR_MAGIC 0x54563403

#endif /* TVM_PULP_EXECUTOR_H */
