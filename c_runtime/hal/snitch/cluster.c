/* SPDX-License-Identifier: Apache-2.0
 *
 * All cores run the inferences together; core 0 keeps the time and ends the run. */
#include "start.h"

volatile uint64_t tohost __attribute__((section(".data.host"), aligned(64)));
volatile uint64_t fromhost __attribute__((section(".data.host")));

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

void tvm_pulp_cluster_main(uint32_t core) {
  if (tvm_pulp_is_agent()) clear_variables();
  tvm_pulp_barrier();
  if (core == 0u) tvm_pulp_print_table();
  const enum tvm_pulp_exit result = tvm_pulp_run_inferences(core);
  tvm_pulp_barrier();
  if (core == 0u) {
    tvm_pulp_print_contents();
    tohost = (uint32_t)result << 1 | 1u;
  }
  for (;;) __asm__ volatile("wfi");
}
