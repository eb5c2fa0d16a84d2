/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry of all harts. The controller arrives first and alone; cluster cores when it enables their fetch. */
#include "tvm_pulp/siracusa.h"
#include "tvm_pulp/stack_guard.h"

  .section .text.start, "ax"
  .globl _start
_start:
  csrr a0, mhartid
  srli a1, a0, SIRACUSA_HART_CLUSTER_SHIFT
  andi a0, a0, SIRACUSA_HART_CORE_MASK
  beqz a1, cluster_core

controller:
  la sp, tvm_pulp_controller_stack_top
  la a0, tvm_pulp_bss_begin
  la a1, tvm_pulp_bss_end
clear_next:
  bgeu a0, a1, cleared
  sw zero, 0(a0)
  addi a0, a0, 4
  j clear_next
cleared:
  tail tvm_pulp_controller_main

cluster_core:
  take_stack a0
  /* All stacks would start in the same L1 bank, and cores that spill together would queue up for it. The uppermost 16
   * bytes are for drivers (link.ld). */
  andi a3, a0, 3
  addi a3, a3, 1
  slli a3, a3, 4
  sub sp, sp, a3
  guard_stack
#ifdef __riscv_flen
  /* Floating-point unit on (mstatus.FS), rounding to nearest. */
  li a3, 0x6000
  csrs mstatus, a3
  csrw fcsr, zero
#endif
  tail tvm_pulp_cluster_main
