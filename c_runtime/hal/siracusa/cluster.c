/* SPDX-License-Identifier: Apache-2.0
 *
 * The cluster: all cores run the inferences together; core 0 keeps the time and reports the result. */
#include "start.h"

/* Every core writes the same masks, so that none arrives at a barrier that is not set up. */
static void set_up(uint32_t core) {
  if (core == 0u) TVM_PULP_REGISTER(SIRACUSA_CLUSTER_ICACHE_ENABLE) = 1;
  const uint32_t team = (1u << TVM_PULP_CORES) - 1u;
  TVM_PULP_REGISTER(SIRACUSA_EVENT_UNIT + SIRACUSA_BARRIER_TRIGGER_MASK) = team;
  TVM_PULP_REGISTER(SIRACUSA_EVENT_UNIT + SIRACUSA_BARRIER_TARGET_MASK) = team;
  tvm_pulp_event_mask(1u << SIRACUSA_LINE_BARRIER);
}

void tvm_pulp_cluster_main(uint32_t core) {
  set_up(core);
  const enum tvm_pulp_exit result = tvm_pulp_run_inferences(core);
  if (core == 0u) tvm_pulp_cluster_result = 1u + (uint32_t)result;
  /* Nobody is left to wake anyone up. */
  tvm_pulp_event_mask(0);
  for (;;) TVM_PULP_EVENT_LOAD(SIRACUSA_EVENT_WAIT);
}
