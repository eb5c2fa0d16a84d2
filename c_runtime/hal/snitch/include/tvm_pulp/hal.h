/* SPDX-License-Identifier: Apache-2.0
 *
 * What generated code may use of the Snitch cluster. All cores run the same program, those that compute and the one
 * that commands the DMA; every function here is called by all of them together unless its comment says who. */
#ifndef TVM_PULP_HAL_H
#define TVM_PULP_HAL_H

#include "tvm_pulp/core.h"
#include "tvm_pulp/dma.h"
#include "tvm_pulp/program.h"
#include "tvm_pulp/snitch.h"

#endif /* TVM_PULP_HAL_H */
