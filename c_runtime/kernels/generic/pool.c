/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm_pulp/plain/pool.h"

void tvm_pulp_kernel_max_pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores) {
  tvm_pulp_plain_pool(args, core, cores, 0);
}

void tvm_pulp_kernel_avg_pool(const struct tvm_pulp_pool_args *args, uint32_t core, uint32_t cores) {
  tvm_pulp_plain_pool(args, core, cores, 1);
}
