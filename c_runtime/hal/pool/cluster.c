/* SPDX-License-Identifier: Apache-2.0
 *
 * All cores run the inferences together; core 0 keeps the time and ends the run. */
#include "start.h"

extern uint32_t tvm_pulp_bss_begin[], tvm_pulp_bss_end[];

/* Nobody can wait at a barrier before its counters are zero: until then the others sleep. */
static void prepare(void) {
  for (uint32_t *word = tvm_pulp_bss_begin; word != tvm_pulp_bss_end; ++word) *word = 0;
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
