/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TVM_PULP_ATTENTION_FEW_H
#define TVM_PULP_ATTENTION_FEW_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"

/* Some queries of heads of four elements; [begin, end) counts all queries of the first head, then those of the second,
 * and so on. `scratch`: 20 bytes and 3 * (keys rounded up to 4), word aligned. Returns 0 or, where the mask lifts a
 * logit, something else; the result is wrong then. */
int32_t tvm_pulp_attention_few(const struct tvm_pulp_attention_args *args, uint32_t begin, uint32_t end,
                               uint8_t *scratch);

/* Four accumulators of a head to four results. */
void tvm_pulp_attention_finish(const struct tvm_pulp_requant *r, uint8_t *y, int32_t a0, int32_t a1, int32_t a2,
                               int32_t a3);

#endif /* TVM_PULP_ATTENTION_FEW_H */
