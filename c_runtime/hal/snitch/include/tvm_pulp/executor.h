/* SPDX-License-Identifier: Apache-2.0
 *
 * The executor: all cores walk through a list of step records together. A record and what it points to lie in L1,
 * brought there by the DMA before anyone needs them, so that a layer costs data and not code.
 *
 * A step: the DMA core issues the commands and waits, the others call the function, all meet at a barrier where one is
 * needed. */
#ifndef TVM_PULP_EXECUTOR_H
#define TVM_PULP_EXECUTOR_H

#include "tvm_pulp/hal.h"
#include "tvm_pulp/step_record.h"

/* Changes with the layout of records. */
#define TVM_PULP_EXECUTOR_MAGIC 0x54563202

#endif /* TVM_PULP_EXECUTOR_H */
