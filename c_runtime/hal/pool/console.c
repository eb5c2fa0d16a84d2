/* SPDX-License-Identifier: Apache-2.0 */
#include "start.h"

void tvm_pulp_put(uint32_t character) { *(volatile uint8_t *)POOL_CONSOLE = (uint8_t)character; }
