/* SPDX-License-Identifier: Apache-2.0
 *
 * A program around a network on a CPU by itself: what the program provides to the start-up code, what it tells whoever
 * runs it. The host finds the symbols in the executable. */
#ifndef TVM_PULP_CPU_PROGRAM_H
#define TVM_PULP_CPU_PROGRAM_H

#include <stdint.h>

enum tvm_pulp_exit {
  TVM_PULP_EXIT_OK = 0,
  TVM_PULP_EXIT_STACK_OVERFLOW = 3, /* the stack's guard was overwritten */
  TVM_PULP_EXIT_REFUSED = 5         /* the network returned another status than OK */
};

/* One inference; returns what the network's run function returns. */
int32_t tvm_pulp_network(void);

/* Inferences to run; the host may change it in the file. */
extern const volatile uint32_t tvm_pulp_inferences;

/* The layer that is computed, from 1; 0 outside of the network. Written only in programs that are profiled. */
extern volatile uint32_t tvm_pulp_layer;
#ifdef TVM_PULP_PROFILE
#define TVM_PULP_LAYER(number) (tvm_pulp_layer = (number))
#else
#define TVM_PULP_LAYER(number) ((void)0)
#endif

/* Inputs and outputs: start-up code does not clear them; an operating system has done so before they are written. */
#ifdef TVM_PULP_HOSTED
#define TVM_PULP_KEPT
#else
#define TVM_PULP_KEPT __attribute__((section(".noinit"), aligned(16)))
#endif

#endif /* TVM_PULP_CPU_PROGRAM_H */
