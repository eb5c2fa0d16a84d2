/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry of all harts, which arrive together. */
#include "tvm_pulp/pool.h"
#include "tvm_pulp/stack_guard.h"

  .section .text.start, "ax"
  .globl _start
_start:
  csrr a0, mhartid
  /* Stacks lie in the banks of their core's tile. */
  li a2, POOL_CORES_OF_GROUP
  divu a3, a0, a2
  li a2, POOL_PLACES_OF_GROUP - POOL_CORES_OF_GROUP
  mul a3, a3, a2
  add a3, a3, a0
  take_stack a3
  guard_stack
  tail tvm_pulp_cluster_main
