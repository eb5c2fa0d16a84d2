/* SPDX-License-Identifier: Apache-2.0
 *
 * All cores run the inferences together; core 0 keeps the time and ends the run. */
#include "start.h"
#include "tvm_pulp/stack_guard.h"

extern uint32_t tvm_pulp_bss_begin[], tvm_pulp_bss_end[];

extern volatile uint32_t tvm_pulp_stacks[];

/* Places without a core have no stack that could outgrow its own. */
static void guard_empty_places(void) {
  for (uint32_t place = 0; place < TVM_PULP_STACKS; ++place) {
    volatile uint32_t *guard = tvm_pulp_stacks + place * (TVM_PULP_STACK_BYTES / 4);
    if (place % POOL_PLACES_OF_GROUP < POOL_CORES_OF_GROUP) continue;
    for (uint32_t i = 0; i < TVM_PULP_GUARD_BYTES / 4; ++i) guard[i] = TVM_PULP_GUARD_PATTERN;
  }
}

/* Nobody can wait at a barrier before its counters are zero: until then the others sleep. */
static void prepare(void) {
  for (uint32_t *word = tvm_pulp_bss_begin; word != tvm_pulp_bss_end; ++word) *word = 0;
  guard_empty_places();
  tvm_pulp_clear_barrier();
  tvm_pulp_dma_reset();
  __asm__ volatile("fence" ::: "memory");
  TVM_PULP_REGISTER(POOL_WAKE_UP) = POOL_ALL;
}

void tvm_pulp_cluster_main(uint32_t core) {
  if (core == 0u) prepare();
  __asm__ volatile("wfi" ::: "memory");
  if (core == 0u) tvm_pulp_print_table();
  const enum tvm_pulp_exit result = tvm_pulp_run_inferences(core);
  tvm_pulp_barrier();
  if (core == 0u) {
    tvm_pulp_print_contents();
    __asm__ volatile("fence" ::: "memory");
    TVM_PULP_REGISTER(POOL_END) = (uint32_t)result << 1 | 1u;
  }
  for (;;) __asm__ volatile("wfi");
}
