/* SPDX-License-Identifier: Apache-2.0
 *
 * The cluster: all cores run the inferences together; core 0 keeps the time and reports the result. */
#include "run_state.h"

volatile uint32_t tvm_pulp_inferences = 2;
volatile uint32_t tvm_pulp_cycles[TVM_PULP_TIMED_INFERENCES];
volatile uint32_t tvm_pulp_layer_cycles[TVM_PULP_MARKS];
/* A section of its own, which the linker keeps even when nothing sets marks. */
volatile uint32_t tvm_pulp_marks[TVM_PULP_MARKS] __attribute__((section(".bss..marks")));

extern volatile const uint32_t tvm_pulp_stacks[];

/* Every core writes the same masks, so that none arrives at a barrier that is not set up. */
static void set_up(uint32_t core) {
  if (core == 0u) TVM_PULP_REGISTER(SIRACUSA_CLUSTER_ICACHE_ENABLE) = 1;
  const uint32_t team = (1u << TVM_PULP_CORES) - 1u;
  TVM_PULP_REGISTER(SIRACUSA_EVENT_UNIT + SIRACUSA_BARRIER_TRIGGER_MASK) = team;
  TVM_PULP_REGISTER(SIRACUSA_EVENT_UNIT + SIRACUSA_BARRIER_TARGET_MASK) = team;
  tvm_pulp_event_mask(1u << SIRACUSA_LINE_BARRIER);
}

/* One inference; returns the cycle at which it started. */
static uint32_t run_inference(uint32_t core, uint32_t inference) {
  tvm_pulp_barrier();
  const uint32_t start = tvm_pulp_cycle();
  tvm_pulp_network();
  tvm_pulp_barrier();
  const uint32_t end = tvm_pulp_cycle();
  if (core == 0u && inference < TVM_PULP_TIMED_INFERENCES) tvm_pulp_cycles[inference] = end - start;
  return start;
}

static enum tvm_pulp_exit check_stacks(void) {
  for (uint32_t core = 0; core < TVM_PULP_CORES; core++) {
    volatile const uint32_t *guard = tvm_pulp_stacks + core * (TVM_PULP_STACK_BYTES / 4);
    for (uint32_t i = 0; i < TVM_PULP_GUARD_BYTES / 4; i++) {
      if (guard[i] != TVM_PULP_GUARD_PATTERN) return TVM_PULP_EXIT_STACK_OVERFLOW;
    }
  }
  return TVM_PULP_EXIT_OK;
}

static void copy_marks(uint32_t start) {
#ifdef TVM_PULP_PROFILE
  for (uint32_t i = 0; i < tvm_pulp_mark_count; i++) tvm_pulp_layer_cycles[i] = tvm_pulp_marks[i] - start;
#else
  (void)start;
#endif
}

static enum tvm_pulp_exit run_inferences(uint32_t core) {
  if (tvm_pulp_mark_count > TVM_PULP_MARKS) return TVM_PULP_EXIT_TOO_MANY_MARKS;
  const uint32_t inferences = tvm_pulp_inferences;
  uint32_t start = 0;
  for (uint32_t i = 0; i < inferences; i++) start = run_inference(core, i);
  if (core != 0u) return TVM_PULP_EXIT_OK;
  copy_marks(start);
  return check_stacks();
}

void tvm_pulp_cluster_main(uint32_t core) {
  set_up(core);
  const enum tvm_pulp_exit result = run_inferences(core);
  if (core == 0u) tvm_pulp_cluster_result = 1u + (uint32_t)result;
  /* Nobody is left to wake anyone up. */
  tvm_pulp_event_mask(0);
  for (;;) TVM_PULP_EVENT_LOAD(SIRACUSA_EVENT_WAIT);
}
