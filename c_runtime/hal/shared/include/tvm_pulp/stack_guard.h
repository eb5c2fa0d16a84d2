/* SPDX-License-Identifier: Apache-2.0
 *
 * Where stacks lie; their lowest bytes hold a pattern that the end of the run looks for. For C and assembly. */
#ifndef TVM_PULP_STACK_GUARD_H
#define TVM_PULP_STACK_GUARD_H

#define TVM_PULP_GUARD_BYTES 32
#define TVM_PULP_GUARD_PATTERN 0x5AFE57AC

#ifdef __ASSEMBLER__
/* The stack of a place: sp its upper end, a1 its lower; overwrites a2 and a3. */
.macro take_stack place
  la a1, tvm_pulp_stacks
  li a2, TVM_PULP_STACK_BYTES
  mul a3, \place, a2
  add a1, a1, a3
  add sp, a1, a2
.endm

/* Of the stack whose lower end is in a1; overwrites a1 to a3. */
.macro guard_stack
  li a3, TVM_PULP_GUARD_PATTERN
  addi a2, a1, TVM_PULP_GUARD_BYTES
guard_next:
  sw a3, 0(a1)
  addi a1, a1, 4
  bltu a1, a2, guard_next
.endm
#endif

#endif /* TVM_PULP_STACK_GUARD_H */
