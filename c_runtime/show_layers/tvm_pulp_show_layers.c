/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp_show_layers.h"

static uint32_t step, place;

void tvm_pulp_show_layers(void) {
  for (; tvm_pulp_results[place].bytes != 0u && tvm_pulp_results[place].step <= step; place++)
    tvm_pulp_show(tvm_pulp_results[place].address, tvm_pulp_results[place].bytes);
  if (tvm_pulp_results[place].bytes == 0u && tvm_pulp_results[place].step == step) {
    step = place = 0u; /* the next inference */
  } else {
    step++;
  }
}
