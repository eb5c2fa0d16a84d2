/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights of a quantize/dequantize graph's attention from products, in plain C. */
#ifndef TVM_PULP_TWIN_QDQ_WEIGHTS_H
#define TVM_PULP_TWIN_QDQ_WEIGHTS_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/real.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_qdq_weights(const struct tvm_pulp_qdq_weights_args *args, uint32_t core,
                                              uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    uintptr_t head = row / args->queries, query = row - head * args->queries, first = (uintptr_t)row * args->stride;
    const int32_t *x = args->x + first;
    const uint8_t *mask = args->mask ? args->mask + head * args->mask_head_stride + query * args->mask_stride : 0;
    uint8_t *y = args->y + first;
    int32_t best = 0, total = 0;
    for (uint32_t key = 0; key < args->keys; ++key) {
      int32_t logit = args->shift ? tvm_pulp_clip((x[key] + args->add) >> args->shift, -256, 255)
                                  : tvm_pulp_round_within((float)x[key] * args->reals[0], -256, 255);
      y[key] = args->table[(mask ? 512u * mask[key] : 0u) + (uint32_t)(logit + 256)];
      best = tvm_pulp_max(best, y[key]);
    }
    const int32_t *exponential = args->exponential + 255 - best;
    for (uint32_t key = 0; key < args->keys; ++key) total += exponential[y[key]];
    float factor = args->reals[1] / (float)total;
    for (uint32_t key = 0; key < args->keys; ++key) {
      y[key] = (uint8_t)tvm_pulp_round_within((float)exponential[y[key]] * factor, 0, args->probability_high);
    }
    for (uint32_t key = args->keys; key < args->stride; ++key) y[key] = 0;
  }
}

#endif /* TVM_PULP_TWIN_QDQ_WEIGHTS_H */
