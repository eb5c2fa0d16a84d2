/* SPDX-License-Identifier: Apache-2.0
 *
 * All cores run the inferences together; core 0 keeps the time. */
#include "run_state.h"
#include "tvm_pulp/stack_guard.h"

volatile uint32_t tvm_pulp_inferences = 2;
volatile uint32_t tvm_pulp_cycles[TVM_PULP_TIMED_INFERENCES];
volatile uint32_t tvm_pulp_layer_cycles[TVM_PULP_MARKS];
volatile uint32_t tvm_pulp_refused;
/* A section of its own, which the linker keeps even when nothing sets marks. */
volatile uint32_t tvm_pulp_marks[TVM_PULP_MARKS] __attribute__((section(".bss..marks")));

extern volatile const uint32_t tvm_pulp_stacks[];

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
  for (uint32_t core = 0; core < TVM_PULP_STACKS; core++) {
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

#ifdef TVM_PULP_CHECKS_CONSTANTS
static volatile int32_t wrong_constants;

/* The same answer for all cores. */
TVM_PULP_LATER __attribute__((noinline)) static int constants_are_wrong(void) {
  if (tvm_pulp_is_agent()) wrong_constants = tvm_pulp_check_constants();
  tvm_pulp_barrier();
  return wrong_constants != 0;
}
#endif

enum tvm_pulp_exit tvm_pulp_run_inferences(uint32_t core) {
  if (tvm_pulp_mark_count > TVM_PULP_MARKS) return TVM_PULP_EXIT_TOO_MANY_MARKS;
#ifdef TVM_PULP_CHECKS_CONSTANTS
  if (constants_are_wrong()) return TVM_PULP_EXIT_WRONG_CONSTANTS;
#endif
  const uint32_t inferences = tvm_pulp_inferences;
  uint32_t start = 0;
  for (uint32_t i = 0; i < inferences; i++) start = run_inference(core, i);
  if (core != 0u) return TVM_PULP_EXIT_OK;
  copy_marks(start);
  return tvm_pulp_refused != 0u ? TVM_PULP_EXIT_REFUSED : check_stacks();
}
