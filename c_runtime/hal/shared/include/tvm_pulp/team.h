/* SPDX-License-Identifier: Apache-2.0
 *
 * How many cores take part, and access to registers. */
#ifndef TVM_PULP_TEAM_H
#define TVM_PULP_TEAM_H

#include <stdint.h>

#ifndef TVM_PULP_CORES
#define TVM_PULP_CORES TVM_PULP_HARDWARE_CORES
#endif
#if TVM_PULP_CORES < 1 || TVM_PULP_CORES > TVM_PULP_HARDWARE_CORES
#error "TVM_PULP_CORES must be 1 to TVM_PULP_HARDWARE_CORES"
#endif

/* A memory-mapped register. */
#define TVM_PULP_REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#endif /* TVM_PULP_TEAM_H */
