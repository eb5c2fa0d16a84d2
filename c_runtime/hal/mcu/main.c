/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the inferences, keeps the time and ends the run. */
#include "run_state.h"

volatile uint32_t tvm_pulp_inferences = 2;
volatile uint32_t tvm_pulp_cycles[TVM_PULP_TIMED_INFERENCES];
volatile uint32_t tvm_pulp_layer_cycles[TVM_PULP_MARKS];
/* A section of its own, which the linker keeps even when nothing sets marks. */
volatile uint32_t tvm_pulp_marks[TVM_PULP_MARKS] __attribute__((section(".bss..marks")));

extern volatile const uint32_t tvm_pulp_stacks[];

/* One inference; returns the cycle at which it started. */
static uint32_t run_inference(uint32_t inference) {
  const uint32_t start = tvm_pulp_cycle();
  tvm_pulp_network();
  const uint32_t end = tvm_pulp_cycle();
  if (inference < TVM_PULP_TIMED_INFERENCES) tvm_pulp_cycles[inference] = end - start;
  return start;
}

static enum tvm_pulp_exit check_stack(void) {
  for (uint32_t i = 0; i < TVM_PULP_GUARD_BYTES / 4; i++) {
    if (tvm_pulp_stacks[i] != TVM_PULP_GUARD_PATTERN) return TVM_PULP_EXIT_STACK_OVERFLOW;
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

static enum tvm_pulp_exit run_inferences(void) {
  if (tvm_pulp_mark_count > TVM_PULP_MARKS) return TVM_PULP_EXIT_TOO_MANY_MARKS;
  const uint32_t inferences = tvm_pulp_inferences;
  uint32_t start = 0;
  for (uint32_t i = 0; i < inferences; i++) start = run_inference(i);
  copy_marks(start);
  return check_stack();
}

void tvm_pulp_main(void) {
  tvm_pulp_print_table();
  const enum tvm_pulp_exit result = run_inferences();
  tvm_pulp_print_contents();
  volatile const uint32_t argument[2] = {TVM_PULP_HOST_EXIT_REASON, result};
  tvm_pulp_semihosting(TVM_PULP_HOST_EXIT, (uint32_t)(uintptr_t)argument);
  for (;;) {
  }
}
