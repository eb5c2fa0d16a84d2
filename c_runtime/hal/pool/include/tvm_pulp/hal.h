/* SPDX-License-Identifier: Apache-2.0
 *
 * What generated code may use of a pool of tiles. All cores run the same program; every function here is called by all
 * of them together unless its comment says who. */
#ifndef TVM_PULP_HAL_H
#define TVM_PULP_HAL_H

#include "tvm_pulp/core.h"
#include "tvm_pulp/dma.h"
#include "tvm_pulp/pool.h"
#include "tvm_pulp/program.h"

#endif /* TVM_PULP_HAL_H */
