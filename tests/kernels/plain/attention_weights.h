/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights of attention from its logits, in plain C. */
#ifndef TVM_PULP_TWIN_ATTENTION_WEIGHTS_H
#define TVM_PULP_TWIN_ATTENTION_WEIGHTS_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_attention_weights(const struct tvm_pulp_attention_weights_args *args, uint32_t core,
                                                    uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  int32_t step = (int32_t)args->step;
  for (uint32_t row = range.begin; row < range.end; ++row) {
    const uint8_t *x = args->x + (uintptr_t)row * args->stride;
    const int8_t *mask = args->mask ? args->mask + (uintptr_t)(row % args->queries) * args->mask_stride : 0;
    uint8_t *y = args->y + (uintptr_t)row * args->stride;
    uint16_t *places = (uint16_t *)(void *)(args->scratch + (uintptr_t)core * args->scratch_stride);
    int32_t best = args->low;
    uint32_t total = 0, top = args->levels - 1u;
    for (uint32_t key = 0; key < args->keys; ++key) {
      int32_t level = args->table ? args->table[x[key]] : x[key];
      if (level < 128) level += (int32_t)args->lift;
      if (mask) level = tvm_pulp_clip(level + step * mask[key], args->low, args->high);
      best = level > best ? level : best;
      places[key] = (uint16_t)(level - args->low);
    }
    best = (best | (step - 1)) - args->low;
    for (uint32_t pass = 0; pass < 2u; ++pass) {
      for (uint32_t key = 0; key < args->keys; ++key) {
        int32_t place = 256 * step - 1 - best + places[key];
        uint32_t e = args->small_exponential ? args->small_exponential[place] : (args->exponential[place] - 1u) / top;
        if (pass == 0u) {
          total += e;
        } else {
          uint32_t weight = (uint32_t)((uint64_t)top * e / total);
          y[key] = args->probability ? (uint8_t)args->probability[weight] : (uint8_t)weight;
        }
      }
    }
    for (uint32_t key = args->keys; key < args->stride; ++key) y[key] = 0;
  }
}

#endif /* TVM_PULP_TWIN_ATTENTION_WEIGHTS_H */
