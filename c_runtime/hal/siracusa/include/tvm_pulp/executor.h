/* SPDX-License-Identifier: Apache-2.0
 *
 * The executor: all cores walk through a list of step records together. A record and what it points to lie in L1,
 * brought there by the DMA before anyone needs them, so that a layer costs data and not code.
 *
 * A step: agents (cores 0 to 3) issue their commands, all cores call the function, agents wait, all meet at a barrier
 * where one is needed. What follows the function prepares the next step, whose record may have arrived just then. */
#ifndef TVM_PULP_EXECUTOR_H
#define TVM_PULP_EXECUTOR_H

#include "tvm_pulp/hal.h"
#include "tvm_pulp/step_record.h"

enum {
  TVM_PULP_AGENTS = 4,
  TVM_PULP_L3_GROUP = TVM_PULP_GROUPS - 1 /* of core 0: everything from L3 */
};

/* Heads of transfers; generated records add size and base. */
enum {
  TVM_PULP_STORE = TVM_PULP_DMA_INCREMENT | TVM_PULP_DMA_EVENT,
  TVM_PULP_LOAD = TVM_PULP_STORE | TVM_PULP_DMA_TO_L1,
  TVM_PULP_STORE_LINES = TVM_PULP_COMMAND_2D << 29 | TVM_PULP_STORE | TVM_PULP_DMA_2D,
  TVM_PULP_LOAD_LINES = TVM_PULP_COMMAND_2D << 29 | TVM_PULP_LOAD | TVM_PULP_DMA_2D
};

/* Changes with the layout of records. */
#define TVM_PULP_EXECUTOR_MAGIC 0x54563102

#endif /* TVM_PULP_EXECUTOR_H */
