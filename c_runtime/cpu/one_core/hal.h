/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C of a language model asks of a machine, on a CPU by itself: one core, one memory. */
#ifndef TVM_PULP_HAL_H
#define TVM_PULP_HAL_H

#include <stdint.h>

#define TVM_PULP_CORES 1u
#define TVM_PULP_IN_L2
#define TVM_PULP_LATER

static inline uint32_t tvm_pulp_core_id(void) { return 0; }
static inline void tvm_pulp_barrier(void) {}

#endif /* TVM_PULP_HAL_H */
