/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the microcontroller, for C and assembly. */
#ifndef TVM_PULP_MCU_H
#define TVM_PULP_MCU_H

/* Numbers in which chips of the family differ: programs are built with those of theirs. The linker script is made from
 * the same description. */
#ifndef TVM_PULP_L1_BYTES
#define TVM_PULP_L1_BYTES 0x100000
#endif
#ifndef TVM_PULP_HARDWARE_CORES
#define TVM_PULP_HARDWARE_CORES 1
#endif
#ifndef TVM_PULP_STACK_BYTES
#define TVM_PULP_STACK_BYTES 8192
#endif
#define TVM_PULP_HARTS 1
#define TVM_PULP_STACKS 1 /* that end with a guard */

#endif /* TVM_PULP_MCU_H */
