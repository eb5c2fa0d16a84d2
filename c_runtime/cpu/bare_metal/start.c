/* SPDX-License-Identifier: Apache-2.0
 *
 * From reset to the last inference: vectors or first instructions, memory as C expects it, the network, the end by
 * semihosting. */
#include "tvm_pulp/cpu_program.h"

#include <stdint.h>

enum { HOST_EXIT_REASON = 0x20026 };
enum { GUARD_WORDS = 8 };
#define GUARD_PATTERN 0x5AFE57ACu

extern uint32_t tvm_pulp_data_begin[], tvm_pulp_data_end[], tvm_pulp_bss_begin[], tvm_pulp_bss_end[];
extern const uint32_t tvm_pulp_data_values[];
extern volatile uint32_t tvm_pulp_stack[], tvm_pulp_stack_top[];

/* In the code memory, so that a loader finds them in the file. */
const volatile uint32_t tvm_pulp_inferences = 2;
volatile uint32_t tvm_pulp_layer;

void tvm_pulp_start(void);
void tvm_pulp_start_c(void);

static void stop(void) {
  for (;;) {
  }
}

#if defined(__arm__)
enum { HOST_EXIT = 0x20 };

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    (void *)tvm_pulp_stack_top, (void *)tvm_pulp_start, (void *)stop, (void *)stop, (void *)stop, (void *)stop,
    (void *)stop,
};

static void host_call(uint32_t operation, const volatile void *argument) {
  register uint32_t number __asm__("r0") = operation;
  register const volatile void *block __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(number) : "r"(block) : "memory");
}

#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
#define ACCESS_CONTROL (*(volatile uint32_t *)0xE000ED88u)
static void enable_units(void) {
  ACCESS_CONTROL |= 0xFu << 20; /* floats and vectors */
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}
#else
static void enable_units(void) {}
#endif

void tvm_pulp_start(void) { tvm_pulp_start_c(); }
#elif defined(__aarch64__)
enum { HOST_EXIT = 0x18 };

/* Stack; floats and vectors without a trap (CPACR_EL1.FPEN). */
__attribute__((naked, section(".vectors"))) void tvm_pulp_start(void) {
  __asm__ volatile(
      "adrp x0, tvm_pulp_stack_top\n\t"
      "add x0, x0, :lo12:tvm_pulp_stack_top\n\t"
      "mov sp, x0\n\t"
      "mov x0, #0x300000\n\t"
      "msr cpacr_el1, x0\n\t"
      "isb\n\t"
      "b tvm_pulp_start_c");
}

static void host_call(uint32_t operation, const volatile void *argument) {
  register uint64_t number __asm__("x0") = operation;
  register const volatile void *block __asm__("x1") = argument;
  __asm__ volatile("hlt #0xf000" : "+r"(number) : "r"(block) : "memory");
}

/* The first four GiB as normal memory in blocks of one GiB: without, words that are not aligned trap. */
static void enable_units(void) {
  static uint64_t blocks[8] __attribute__((aligned(64)));
  enum { BLOCK = 1, INNER_SHAREABLE = 3 << 8, ACCESSED = 1 << 10 };
  for (uint64_t i = 0; i < 4; i++) blocks[i] = i << 30 | ACCESSED | INNER_SHAREABLE | BLOCK;
  const uint64_t control = 1u << 23 | 3u << 12 | 1u << 10 | 1u << 8 | 32u; /* cached, 32 bits of address */
  uint64_t system;
  __asm__ volatile("mrs %0, sctlr_el1" : "=r"(system));
  system |= 1u | 1u << 2 | 1u << 12; /* translation, data and instruction cache */
  __asm__ volatile(
      "msr mair_el1, %0\n\tmsr tcr_el1, %1\n\tmsr ttbr0_el1, %2\n\tdsb sy\n\tisb\n\tmsr sctlr_el1, %3\n\tisb" ::"r"(
          (uint64_t)0xFF),
      "r"(control), "r"(blocks), "r"(system)
      : "memory");
}
#elif defined(__riscv)
enum { HOST_EXIT = 0x18 };

/* Stack; floats and vectors on (mstatus.FS, VS). */
__attribute__((naked, section(".vectors"))) void tvm_pulp_start(void) {
  __asm__ volatile(
      "la sp, tvm_pulp_stack_top\n\t"
      "li t0, 0x6600\n\t"
      "csrs mstatus, t0\n\t"
      "j tvm_pulp_start_c");
}

static void host_call(uint32_t operation, const volatile void *argument) {
  register uintptr_t number __asm__("a0") = operation;
  register const volatile void *block __asm__("a1") = argument;
  __asm__ volatile(
      ".balign 16\n\t.option push\n\t.option norvc\n\tslli zero, zero, 0x1f\n\tebreak\n\tsrai zero, zero, 7\n\t.option pop"
      : "+r"(number)
      : "r"(block)
      : "memory");
}

static void enable_units(void) {}
#endif

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

void tvm_pulp_start_c(void) {
  const uint32_t *value = tvm_pulp_data_values;
  for (uint32_t *to = tvm_pulp_data_begin; to != tvm_pulp_data_end; to++) *to = *value++;
  for (uint32_t *to = tvm_pulp_bss_begin; to != tvm_pulp_bss_end; to++) *to = 0;
  enable_units();
  const volatile uintptr_t argument[2] = {HOST_EXIT_REASON, run()};
  host_call(HOST_EXIT, argument);
  stop();
}
