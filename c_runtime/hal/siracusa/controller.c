/* SPDX-License-Identifier: Apache-2.0
 *
 * The fabric controller: starts the cluster, waits for it, ends the run. It has no floating-point unit. */
#include "start.h"

volatile uint32_t tvm_pulp_cluster_result;

/* Polling back to back would keep an L2 bank busy. A division by one takes 34 cycles, so this is a long wait in few
 * instructions. */
static void pause(void) {
  uint32_t value = 1;
  for (int i = 0; i < 8; i++) __asm__ volatile("divu %0, %0, %1" : "+r"(value) : "r"(1));
}

static void start_cluster(void) {
  for (uint32_t core = 0; core < TVM_PULP_CORES; core++) {
    TVM_PULP_REGISTER(SIRACUSA_BOOT_ADDRESS + 4u * core) = (uint32_t)(uintptr_t)_start;
  }
  TVM_PULP_REGISTER(SIRACUSA_FETCH_ENABLE) = (1u << TVM_PULP_CORES) - 1u;
}

void tvm_pulp_controller_main(void) {
  TVM_PULP_REGISTER(SIRACUSA_IO_CLOCK_ENABLE) = SIRACUSA_HYPERBUS_CLOCK;
  TVM_PULP_REGISTER(SIRACUSA_HYPERBUS_CHIP_SELECT) = 0; /* RAM */
  tvm_pulp_print_table();
  start_cluster();
  while (tvm_pulp_cluster_result == 0u) pause();
  tvm_pulp_print_contents();
  TVM_PULP_REGISTER(SIRACUSA_CORE_STATUS) = 1u << 31 | (tvm_pulp_cluster_result - 1u);
  for (;;) {
  }
}
