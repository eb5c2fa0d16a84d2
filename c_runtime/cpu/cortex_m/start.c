/* SPDX-License-Identifier: Apache-2.0
 *
 * From reset to the last inference: vectors, memory as C expects it, the network, the end by semihosting. */
#include "tvm_pulp/cpu_program.h"

#include <stdint.h>

enum { HOST_EXIT = 0x20, HOST_EXIT_REASON = 0x20026 };
enum { GUARD_WORDS = 8 };
#define GUARD_PATTERN 0x5AFE57ACu

extern uint32_t tvm_pulp_data_begin[], tvm_pulp_data_end[], tvm_pulp_bss_begin[], tvm_pulp_bss_end[];
extern const uint32_t tvm_pulp_data_values[];
extern volatile uint32_t tvm_pulp_stack[], tvm_pulp_stack_top[];

/* In the code memory, so that a loader finds them in the file. */
const volatile uint32_t tvm_pulp_inferences = 2;
volatile uint32_t tvm_pulp_layer;

void tvm_pulp_start(void);

static void stop(void) {
  for (;;) {
  }
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    (void *)tvm_pulp_stack_top, (void *)tvm_pulp_start, (void *)stop, (void *)stop, (void *)stop, (void *)stop,
    (void *)stop,
};

static void host_call(uint32_t operation, const volatile void *argument) {
  register uint32_t number __asm__("r0") = operation;
  register const volatile void *block __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(number) : "r"(block) : "memory");
}

static enum tvm_pulp_exit run(void) {
  for (uint32_t i = 0; i < GUARD_WORDS; i++) tvm_pulp_stack[i] = GUARD_PATTERN;
  for (uint32_t i = 0; i < tvm_pulp_inferences; i++) {
    const int32_t status = tvm_pulp_network();
    TVM_PULP_LAYER(0);
    if (status != 0) return TVM_PULP_EXIT_REFUSED;
  }
  for (uint32_t i = 0; i < GUARD_WORDS; i++) {
    if (tvm_pulp_stack[i] != GUARD_PATTERN) return TVM_PULP_EXIT_STACK_OVERFLOW;
  }
  return TVM_PULP_EXIT_OK;
}

void tvm_pulp_start(void) {
  const uint32_t *value = tvm_pulp_data_values;
  for (uint32_t *to = tvm_pulp_data_begin; to != tvm_pulp_data_end; to++) *to = *value++;
  for (uint32_t *to = tvm_pulp_bss_begin; to != tvm_pulp_bss_end; to++) *to = 0;
  const volatile uint32_t argument[2] = {HOST_EXIT_REASON, run()};
  host_call(HOST_EXIT, argument);
  stop();
}
