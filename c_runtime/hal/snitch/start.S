/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry of all harts, which arrive together with their number in a0. */
#include "tvm_pulp/snitch.h"
#include "tvm_pulp/stack_guard.h"

  .section .text.start, "ax"
  .globl _start
_start:
  csrr a0, mhartid
  /* Stack of this core: guard at its lower end. */
  la a1, tvm_pulp_stacks
  li a2, TVM_PULP_STACK_BYTES
  mul a3, a0, a2
  add a1, a1, a3
  add sp, a1, a2
  /* All stacks would start in the same L1 bank, and cores that spill together would queue up for it. */
  slli a3, a0, 4
  sub sp, sp, a3
  guard_stack
  tail tvm_pulp_cluster_main
