/* SPDX-License-Identifier: Apache-2.0
 *
 * The executor: all cores walk through a list of step records together. A record and what it points to lie in L1, brought
 * there by the DMA before anyone needs them, so that a layer costs data and not code.
 *
 * A step: agents (cores 0 to 3) issue their commands, all cores call the function, agents wait, all meet at a barrier
 * where one is needed. What follows the function prepares the next step, whose record may have arrived just then. */
#ifndef TVM_PULP_EXECUTOR_H
#define TVM_PULP_EXECUTOR_H

#include <stdint.h>

#include "tvm_pulp/executor_magic.h"

#include "tvm_pulp/hal.h"

enum {
  TVM_PULP_AGENTS = 4,
  TVM_PULP_GROUPS = 8,  /* of transfers that an agent may have under way; core 0's last one is everything from L3 */
  TVM_PULP_L3_GROUP = 7,
  TVM_PULP_TICKETS = 8, /* of jobs */
  TVM_PULP_STEP_BARRIER = 1
};

/* Commands: the code in bits 31:29. A transfer has the DMA's command word in bits 20:0 and in bits 28:21 the number,
 * plus one, of the pointer that its external address counts from; then the L1 address, the external address, and for
 * lines their length and stride. */
enum {
  TVM_PULP_COMMAND_1D = 0,
  TVM_PULP_COMMAND_2D = 1,
  TVM_PULP_COMMAND_BEGIN = 2,  /* group in bits 7:0 */
  TVM_PULP_COMMAND_SUBMIT = 3, /* ticket in bits 7:0; the driver's function; the job */
  TVM_PULP_COMMAND_FETCH = 4,  /* L2 address, L3 offset, bytes */
  TVM_PULP_COMMAND_END = 7
};

/* Heads of transfers; generated records add size and base. */
enum {
  TVM_PULP_STORE = TVM_PULP_DMA_INCREMENT | TVM_PULP_DMA_EVENT,
  TVM_PULP_LOAD = TVM_PULP_STORE | TVM_PULP_DMA_TO_L1,
  TVM_PULP_STORE_LINES = TVM_PULP_COMMAND_2D << 29 | TVM_PULP_STORE | TVM_PULP_DMA_2D,
  TVM_PULP_LOAD_LINES = TVM_PULP_COMMAND_2D << 29 | TVM_PULP_LOAD | TVM_PULP_DMA_2D
};

typedef void (*tvm_pulp_function)(const void *arguments, uint32_t core, uint32_t cores);
typedef uint32_t (*tvm_pulp_submit)(const void *job);
/* Wait for the job that `submit` returned this for; `number` is the ticket's, by which a program knows the engine. */
typedef void (*tvm_pulp_wait)(uint32_t submitted, uint32_t number);

struct tvm_pulp_step {
  tvm_pulp_function function; /* or none */
  const void *arguments;
  uint32_t commands; /* byte a: words from here to the commands of agent a; 0 is none */
  uint32_t waits;    /* byte a: bit g is set if agent a waits for its group g */
  uint32_t control;  /* bit 0 barrier; bit 8 + t: wait for ticket t; bits 31:16 mark to set first, plus one */
  const struct tvm_pulp_step *next;
};

/* Changes with the layout of records. */
#define TVM_PULP_EXECUTOR_MAGIC 0x54563101

/* Run all steps. `bases` are the pointers known only at run time. Called by all cores together. */
void tvm_pulp_execute(const struct tvm_pulp_step *step, const uint32_t *bases, tvm_pulp_wait wait_for_job);

#endif /* TVM_PULP_EXECUTOR_H */
