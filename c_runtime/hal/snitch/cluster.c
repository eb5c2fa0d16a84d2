/* SPDX-License-Identifier: Apache-2.0
 *
 * All cores run the inferences together; core 0 keeps the time and ends the run. */
#include "run_state.h"

volatile uint32_t tvm_pulp_inferences = 2;
volatile uint32_t tvm_pulp_cycles[TVM_PULP_TIMED_INFERENCES];
volatile uint32_t tvm_pulp_layer_cycles[TVM_PULP_MARKS];
/* A section of its own, which the linker keeps even when nothing sets marks. */
volatile uint32_t tvm_pulp_marks[TVM_PULP_MARKS] __attribute__((section(".bss..marks")));

volatile uint64_t tohost __attribute__((section(".data.host"), aligned(64)));
volatile uint64_t fromhost __attribute__((section(".data.host")));

extern volatile const uint32_t tvm_pulp_stacks[];
extern uint8_t tvm_pulp_bss_begin[], tvm_pulp_bss_end[];

/* The DMA clears what C expects to be zero. */
static void clear_variables(void) {
  uint32_t begin = (uint32_t)(uintptr_t)tvm_pulp_bss_begin;
  const uint32_t end = (uint32_t)(uintptr_t)tvm_pulp_bss_end;
  while (begin < end) {
    const uint32_t bytes = end - begin < SNITCH_ZEROS_BYTES ? end - begin : SNITCH_ZEROS_BYTES;
    (void)tvm_pulp_dma_copy(begin, SNITCH_ZEROS, bytes);
    begin += bytes;
  }
  tvm_pulp_dma_wait(0);
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
  for (uint32_t core = 0; core <= TVM_PULP_DMA_CORE; core++) {
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
  if (tvm_pulp_is_agent()) clear_variables();
  tvm_pulp_barrier();
  if (core == 0u) tvm_pulp_print_table();
  const enum tvm_pulp_exit result = run_inferences(core);
  tvm_pulp_barrier();
  if (core == 0u) {
    tvm_pulp_print_contents();
    tohost = (uint32_t)result << 1 | 1u;
  }
  for (;;) __asm__ volatile("wfi");
}
