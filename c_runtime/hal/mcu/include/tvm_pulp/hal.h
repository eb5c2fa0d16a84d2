/* SPDX-License-Identifier: Apache-2.0
 *
 * What generated code may use of the microcontroller. */
#ifndef TVM_PULP_HAL_H
#define TVM_PULP_HAL_H

#include "tvm_pulp/core.h"
#include "tvm_pulp/dma.h"
#include "tvm_pulp/mcu.h"
#include "tvm_pulp/program.h"

#endif /* TVM_PULP_HAL_H */
