/* SPDX-License-Identifier: Apache-2.0 */
#include "start.h"
#include "tvm_pulp_show_layers.h"

void tvm_pulp_show(const volatile uint8_t *data, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) tvm_pulp_put(data[i]);
}
