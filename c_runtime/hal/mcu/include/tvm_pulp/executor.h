/* SPDX-License-Identifier: Apache-2.0
 *
 * The executor: the core walks through a list of step records. A record and what it points to lie in L1, copied there
 * before it is needed.
 *
 * A step: the core carries out the commands, calls the function and waits for jobs. */
#ifndef TVM_PULP_EXECUTOR_H
#define TVM_PULP_EXECUTOR_H

#include "tvm_pulp/hal.h"
#include "tvm_pulp/step_record.h"

enum { TVM_PULP_GROUPS = 8 }; /* of transfers; all are over at once */

/* Heads of transfers; generated records add size and base. */
enum {
  TVM_PULP_STORE = 0,
  TVM_PULP_LOAD = 1 << 20,
  TVM_PULP_STORE_LINES = TVM_PULP_COMMAND_2D << 29 | TVM_PULP_STORE,
  TVM_PULP_LOAD_LINES = TVM_PULP_COMMAND_2D << 29 | TVM_PULP_LOAD
};

/* Changes with the layout of records. */
#define TVM_PULP_EXECUTOR_MAGIC 0x54563302

#endif /* TVM_PULP_EXECUTOR_H */
