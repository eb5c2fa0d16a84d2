/* SPDX-License-Identifier: Apache-2.0
 *
 * What generated code may use of the Siracusa cluster. All cores run the same program; every function here is called by
 * all cores together unless its comment says "core 0". */
#ifndef TVM_PULP_HAL_H
#define TVM_PULP_HAL_H

#include "tvm_pulp/dma.h"
#include "tvm_pulp/event_unit.h"
#include "tvm_pulp/hyperbus.h"
#include "tvm_pulp/program.h"
#include "tvm_pulp/siracusa.h"

#endif /* TVM_PULP_HAL_H */
