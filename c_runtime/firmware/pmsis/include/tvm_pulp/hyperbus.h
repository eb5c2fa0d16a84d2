/* SPDX-License-Identifier: Apache-2.0
 *
 * L3 by calls of the SDK: transfers between L2 and the RAM, in order. Core 0 only. */
#ifndef TVM_PULP_HYPERBUS_H
#define TVM_PULP_HYPERBUS_H

#include <stdint.h>

void tvm_pulp_l3_load(void *l2, uint32_t l3_offset, uint32_t bytes);
void tvm_pulp_l3_store(uint32_t l3_offset, const void *l2, uint32_t bytes);
void tvm_pulp_l3_wait(void);

#endif /* TVM_PULP_HYPERBUS_H */
