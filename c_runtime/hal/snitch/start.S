/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry of all harts, which arrive together with their number in a0. */
#include "tvm_pulp/snitch.h"
#include "tvm_pulp/stack_guard.h"

  .section .text.start, "ax"
  .globl _start
_start:
  csrr a0, mhartid
  take_stack a0
  /* All stacks would start in the same L1 bank, and cores that spill together would queue up for it. */
  slli a3, a0, 4
  sub sp, sp, a3
  guard_stack
  tail tvm_pulp_cluster_main
