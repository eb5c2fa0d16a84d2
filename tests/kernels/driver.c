/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one kernel on some of the cores and counts what each core did. The host writes `bench` before the start. */
#include "tvm_pulp/hal.h"

typedef void (*kernel_function)(const void *args, uint32_t core, uint32_t cores);

struct bench {
  uint32_t kernel; /* position in KERNELS */
  uint32_t args;
  uint32_t cores;
};

enum { COUNTERS = 6 };

TVM_PULP_IN_L2 volatile struct bench bench;
/* Cycles including the closing barrier, then the counters below, per core. */
TVM_PULP_IN_L2 volatile uint32_t counts[TVM_PULP_CORES][COUNTERS];
/* Own cycles of the first call: nothing of the kernel is in the instruction caches. */
volatile uint32_t first_cycles[TVM_PULP_CORES];
const uint32_t tvm_pulp_mark_count = 0;

/* -DKERNELS="X(dense) X(conv2d) ..." */
#define X(name) extern void tvm_pulp_kernel_##name(const void *args, uint32_t core, uint32_t cores);
KERNELS
#undef X
#define X(name) tvm_pulp_kernel_##name,
static const kernel_function kernels[] = {KERNELS};

#define READ_CSR(number, target) __asm__ volatile("csrr %0, " #number : "=r"(target)::"memory")

/* Own cycles, instructions, load-use stalls, instruction-miss cycles, L1 conflicts. */
static void read_counters(uint32_t *values) {
  READ_CSR(0x781, values[2]);
  READ_CSR(0x782, values[3]);
  READ_CSR(0x784, values[4]);
  READ_CSR(0x790, values[5]);
  READ_CSR(mcycle, values[1]);
}

void tvm_pulp_network(void) {
  uint32_t core = tvm_pulp_core_id(), before[COUNTERS], after[COUNTERS];
  kernel_function kernel = kernels[bench.kernel];
  const void *args = (const void *)(uintptr_t)bench.args;
  uint32_t cores = bench.cores;
  if (core >= TVM_PULP_CORES) { /* commands the DMA and has nothing to do */
    tvm_pulp_barrier();
    tvm_pulp_barrier();
    return;
  }
  __asm__ volatile("csrw 0xcc0, %0\ncsrw 0xcc1, %1" ::"r"(0xffffffffu), "r"(1u));
  tvm_pulp_barrier();
  uint32_t start = tvm_pulp_cycle();
  read_counters(before);
  if (core < cores) kernel(args, core, cores);
  read_counters(after);
  tvm_pulp_barrier();
  counts[core][0] = tvm_pulp_cycle() - start;
  if (first_cycles[core] == 0u) first_cycles[core] = after[1] - before[1];
  for (uint32_t i = 1; i < COUNTERS; ++i) counts[core][i] = after[i] - before[i];
}
