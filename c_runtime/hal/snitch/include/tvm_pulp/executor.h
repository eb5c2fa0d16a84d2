/* SPDX-License-Identifier: Apache-2.0
 *
 * The executor: all cores walk through a list of step records together. A record and what it points to lie in L1, brought
 * there by the DMA before anyone needs them, so that a layer costs data and not code.
 *
 * A step: the DMA core issues the commands and waits, the others call the function, all meet at a barrier where one is
 * needed. */
#ifndef TVM_PULP_EXECUTOR_H
#define TVM_PULP_EXECUTOR_H

#include <stdint.h>

#include "tvm_pulp/executor_magic.h"

#include "tvm_pulp/hal.h"

enum {
  TVM_PULP_GROUPS = 8,  /* of transfers that may be under way */
  TVM_PULP_TICKETS = 8, /* of jobs */
  TVM_PULP_STEP_BARRIER = 1
};

/* Commands: the code in bits 31:29. A transfer has its direction in bit 20, its bytes in bits 19:0 and in bits 28:21 the
 * number, plus one, of the pointer that its external address counts from; then the L1 address, the external address, and
 * for lines their length and stride. */
enum {
  TVM_PULP_COMMAND_1D = 0,
  TVM_PULP_COMMAND_2D = 1,
  TVM_PULP_COMMAND_BEGIN = 2,  /* group in bits 7:0 */
  TVM_PULP_COMMAND_SUBMIT = 3, /* ticket in bits 7:0; the driver's function; the job */
  TVM_PULP_COMMAND_END = 7
};

/* Heads of transfers; generated records add size and base. */
enum {
  TVM_PULP_STORE = 0,
  TVM_PULP_LOAD = 1 << 20,
  TVM_PULP_STORE_LINES = TVM_PULP_COMMAND_2D << 29 | TVM_PULP_STORE,
  TVM_PULP_LOAD_LINES = TVM_PULP_COMMAND_2D << 29 | TVM_PULP_LOAD
};

typedef void (*tvm_pulp_function)(const void *arguments, uint32_t core, uint32_t cores);
typedef uint32_t (*tvm_pulp_submit)(const void *job);
/* Wait for the job that `submit` returned this for; `number` is the ticket's, by which a program knows the engine. */
typedef void (*tvm_pulp_wait)(uint32_t submitted, uint32_t number);

struct tvm_pulp_step {
  tvm_pulp_function function; /* or none */
  const void *arguments;
  uint32_t commands; /* bits 7:0: words from here to the commands; 0 is none */
  uint32_t waits;    /* bit g is set if group g is waited for */
  uint32_t control;  /* bit 0 barrier; bit 8 + t: wait for ticket t; bits 31:16 mark to set first, plus one */
  const struct tvm_pulp_step *next;
};

/* Changes with the layout of records. */
#define TVM_PULP_EXECUTOR_MAGIC 0x54563201

/* Run all steps. `bases` are the pointers known only at run time. Called by all cores together. */
void tvm_pulp_execute(const struct tvm_pulp_step *step, const uint32_t *bases, tvm_pulp_wait wait_for_job);

#endif /* TVM_PULP_EXECUTOR_H */
