/* SPDX-License-Identifier: Apache-2.0
 *
 * The three parts of attention of one new row over a cache, in plain C. */
#ifndef TVM_PULP_PLAIN_PAST_PARTS_H
#define TVM_PULP_PLAIN_PAST_PARTS_H

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

static inline int32_t tvm_pulp_plain_past_logit(const int8_t *q, const int8_t *k, uint32_t size, int32_t mul,
                                                int32_t shift) {
  int32_t acc = 0;
  for (uint32_t i = 0; i < size; ++i) acc += q[i] * k[i];
  return (acc * mul + (1 << (shift - 1))) >> shift;
}

static inline void tvm_pulp_plain_past_scores(const struct tvm_pulp_past_scores_args *args, uint32_t core,
                                              uint32_t cores) {
  const uint32_t length = (uint32_t)*args->length, size = args->size;
  struct tvm_pulp_range range = tvm_pulp_share(args->heads, core, cores);
  for (uint32_t head = range.begin; head < range.end; ++head) {
    const int8_t *q = args->q + (uintptr_t)head * size, *k = args->past_k + (uintptr_t)(head / args->group) * size;
    int32_t *y = args->y + (uintptr_t)head * (args->capacity + 1u), largest = -(1 << 30);
    for (uint32_t key = 0; key < args->capacity; ++key) {
      y[key] = 0;
      if (key >= length) continue;
      y[key] = tvm_pulp_plain_past_logit(q, k + (uintptr_t)key * args->past_stride, size, args->mul, args->shift);
      if (y[key] > largest) largest = y[key];
    }
    y[args->capacity] = largest;
  }
}

static inline void tvm_pulp_plain_past_mix(const struct tvm_pulp_past_mix_args *args, uint32_t core, uint32_t cores) {
  const uint32_t length = (uint32_t)*args->length, size = args->size;
  struct tvm_pulp_range range = tvm_pulp_share(args->heads, core, cores);
  for (uint32_t head = range.begin; head < range.end; ++head) {
    const uint32_t column = head / args->group * size;
    const int32_t *scores = args->scores + (uintptr_t)head * (args->capacity + 1u);
    const int32_t fresh = tvm_pulp_plain_past_logit(args->q + (uintptr_t)head * size, args->k + column, size, args->mul,
                                                    args->shift);
    const int32_t largest = scores[args->capacity] > fresh ? scores[args->capacity] : fresh;
    int32_t *y = args->y + (uintptr_t)head * (size + 2u);
    const int32_t own = args->exponential[largest - fresh < 255 ? largest - fresh : 255];
    int32_t total = own;
    for (uint32_t i = 0; i < size; ++i) y[i] = 0;
    for (uint32_t key = 0; key < length; ++key) {
      const int32_t distance = largest - scores[key], e = args->exponential[distance < 255 ? distance : 255];
      const int8_t *v = args->past_v + (uintptr_t)key * args->past_stride + column;
      for (uint32_t i = 0; i < size; ++i) y[i] += e * v[i];
      total += e;
    }
    y[size] = own;
    y[size + 1u] = total;
  }
}

static inline void tvm_pulp_plain_past_mean(const struct tvm_pulp_past_mean_args *args, uint32_t core,
                                            uint32_t cores) {
  const uint32_t size = args->size;
  struct tvm_pulp_range range = tvm_pulp_share(args->heads, core, cores);
  for (uint32_t head = range.begin; head < range.end; ++head) {
    const int32_t *mix = args->mix + (uintptr_t)head * (size + 2u), own = mix[size], total = mix[size + 1u];
    const int8_t *v = args->v + (uintptr_t)(head / args->group) * size;
    for (uint32_t i = 0; i < size; ++i) {
      /* Values above -128 make the numerator positive. */
      const int32_t mean = ((mix[i] + own * v[i] + 128 * total) * 2 + total) / (2 * total) - 128;
      args->y[(uintptr_t)head * size + i] = (int8_t)mean;
    }
  }
}

#endif /* TVM_PULP_PLAIN_PAST_PARTS_H */
