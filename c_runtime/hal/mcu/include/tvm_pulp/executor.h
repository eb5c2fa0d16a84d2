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

/* Changes with the layout of records. */
#define TVM_PULP_EXECUTOR_MAGIC 0x54563302

#endif /* TVM_PULP_EXECUTOR_H */
