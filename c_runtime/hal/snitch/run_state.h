/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program and the host tell each other through external memory. The host finds the symbols in the ELF. */
#ifndef TVM_PULP_RUN_STATE_H
#define TVM_PULP_RUN_STATE_H

#include <stdint.h>

#include "tvm_pulp/hal.h"

enum { TVM_PULP_TIMED_INFERENCES = 16 };

enum tvm_pulp_exit {
  TVM_PULP_EXIT_OK = 0,
  TVM_PULP_EXIT_STACK_OVERFLOW = 3, /* a stack guard was overwritten */
  TVM_PULP_EXIT_TOO_MANY_MARKS = 4  /* tvm_pulp_mark_count above TVM_PULP_MARKS */
};

/* Inferences to run; the host may change it before the start. */
extern volatile uint32_t tvm_pulp_inferences;
/* Cluster cycles of the first inferences. */
extern volatile uint32_t tvm_pulp_cycles[TVM_PULP_TIMED_INFERENCES];
/* Marks of the last inference, counted from its start. */
extern volatile uint32_t tvm_pulp_layer_cycles[TVM_PULP_MARKS];

/* The words through which the host is spoken to: (code << 1) | 1 ends the run, else the address of a call. The host
 * answers a call through the second. */
extern volatile uint64_t tohost, fromhost;

/* symbols.c: nothing unless tvm_pulp_request asks for it. */
void tvm_pulp_print_table(void);
void tvm_pulp_print_contents(void);

/* Entered from start.S by all cores. */
_Noreturn void tvm_pulp_cluster_main(uint32_t core);

#endif /* TVM_PULP_RUN_STATE_H */
