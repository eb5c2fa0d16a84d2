/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention of quantize/dequantize graphs over a past. */
#ifndef TVM_PULP_TWIN_PAST_QDQ_ATTENTION_H
#define TVM_PULP_TWIN_PAST_QDQ_ATTENTION_H

#include "tvm_pulp/plain/past_qdq_attention.h"

static inline void tvm_pulp_plain_past_qdq_attention(const struct tvm_pulp_past_qdq_attention_args *args, uint32_t core,
                                                     uint32_t cores) {
  const struct tvm_pulp_qdq_attention_args whole = tvm_pulp_joined_rows(args);
  tvm_pulp_plain_qdq_attention(&whole, core, cores);
}

#endif /* TVM_PULP_TWIN_PAST_QDQ_ATTENTION_H */
