/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses and sizes of the Snitch cluster, for C and assembly. */
#ifndef TVM_PULP_SNITCH_H
#define TVM_PULP_SNITCH_H

/* Reads as zeros: what the DMA clears memory with. */
#define SNITCH_ZEROS 0x10030000
#define SNITCH_ZEROS_BYTES 0x10000
/* An access stops the core until all cores have made one. */
#define SNITCH_BARRIER 0x7C2

/* Numbers in which chips of the family differ: programs are built with those of theirs. The linker script is made from
 * the same description. */
#ifndef TVM_PULP_L1_BYTES
#define TVM_PULP_L1_BYTES 0x20000
#endif
#ifndef TVM_PULP_HARDWARE_CORES
#define TVM_PULP_HARDWARE_CORES 8 /* that compute */
#endif
#ifndef TVM_PULP_STACK_BYTES
#define TVM_PULP_STACK_BYTES 2048 /* per core */
#endif

/* The core that commands the DMA and accelerators; the only one that can. */
#define TVM_PULP_DMA_CORE TVM_PULP_HARDWARE_CORES
#define TVM_PULP_HARTS (TVM_PULP_HARDWARE_CORES + 1)
#define TVM_PULP_STACKS TVM_PULP_HARTS /* that end with a guard */

#endif /* TVM_PULP_SNITCH_H */
