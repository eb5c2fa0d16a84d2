/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program and the host tell each other. The host finds the symbols in the ELF. */
#ifndef TVM_PULP_RUN_STATE_H
#define TVM_PULP_RUN_STATE_H

#include <stdint.h>

#include "tvm_pulp/hal.h"

enum { TVM_PULP_TIMED_INFERENCES = 16 };

enum tvm_pulp_exit {
  TVM_PULP_EXIT_OK = 0,
  TVM_PULP_EXIT_STACK_OVERFLOW = 3, /* a stack guard was overwritten */
  TVM_PULP_EXIT_TOO_MANY_MARKS = 4, /* tvm_pulp_mark_count above TVM_PULP_MARKS */
  TVM_PULP_EXIT_REFUSED = 5,        /* the network set tvm_pulp_refused */
  TVM_PULP_EXIT_WRONG_CONSTANTS = 6 /* L3 or weight memory does not hold the constants of the archive */
};

/* Inferences to run; the host may change it before the start. */
extern volatile uint32_t tvm_pulp_inferences;
/* Cycles of the first inferences. */
extern volatile uint32_t tvm_pulp_cycles[TVM_PULP_TIMED_INFERENCES];
/* Marks of the last inference, counted from its start. */
extern volatile uint32_t tvm_pulp_layer_cycles[TVM_PULP_MARKS];

/* run_inferences.c: all cores together; what core 0 returns counts. */
enum tvm_pulp_exit tvm_pulp_run_inferences(uint32_t core);

/* symbols.c: nothing unless tvm_pulp_request asks for it. */
void tvm_pulp_print_table(void);
void tvm_pulp_print_contents(void);

/* The HAL's: a character of the console. */
void tvm_pulp_put(uint32_t character);

#endif /* TVM_PULP_RUN_STATE_H */
