/* SPDX-License-Identifier: Apache-2.0
 *
 * New rows are put behind those of the past; then it is attention over all of them. */
#include "tvm_pulp/plain/past_qdq_attention.h"

TVM_PULP_KERNEL(past_qdq_attention) {
  const struct tvm_pulp_qdq_attention_args whole = tvm_pulp_joined_rows(args);
  tvm_pulp_kernel_qdq_attention(&whole, core, cores);
}
