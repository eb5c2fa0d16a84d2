/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry of the only core: clears what C expects to be zero, guards the stack. */
#include "tvm_pulp/mcu.h"
#include "tvm_pulp/stack_guard.h"

  .section .text.start, "ax"
  .globl _start
_start:
  la a0, tvm_pulp_bss_begin
  la a1, tvm_pulp_bss_end
clear_next:
  bgeu a0, a1, cleared
  sw zero, 0(a0)
  addi a0, a0, 4
  j clear_next
cleared:
  la a1, tvm_pulp_stacks
  li a2, TVM_PULP_STACK_BYTES
  add sp, a1, a2
  guard_stack
  tail tvm_pulp_main

/* uint32_t tvm_pulp_semihosting(uint32_t operation, uint32_t argument): the host looks for these three instructions,
 * none of them compressed. */
  .section .text.semihosting, "ax"
  .globl tvm_pulp_semihosting
  .balign 16
  .option push
  .option norvc
tvm_pulp_semihosting:
  slli x0, x0, 0x1f
  ebreak
  srai x0, x0, 7
  ret
  .option pop
