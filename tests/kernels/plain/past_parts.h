/* SPDX-License-Identifier: Apache-2.0
 *
 * The three parts of attention of one new row over a cache, in plain C. */
#ifndef TVM_PULP_TWIN_PAST_PARTS_H
#define TVM_PULP_TWIN_PAST_PARTS_H

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

/* Element i of the row `key` of values, where `rows` of them lie in turn. */
static inline int32_t tvm_pulp_plain_value(const int8_t *values, uint32_t stride, uint32_t rows, uint32_t key, uint32_t i) {
  return values[(uintptr_t)(key / rows) * stride + (uintptr_t)rows * i + key % rows];
}

static inline void tvm_pulp_plain_past_sums(const struct tvm_pulp_past_mix_args *args, uint32_t rows, uint32_t core,
                                            uint32_t cores) {
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
      for (uint32_t i = 0; i < size; ++i)
        y[i] += e * tvm_pulp_plain_value(args->past_v, args->value_stride, rows, key, column + i);
      total += e;
    }
    y[size] = own;
    y[size + 1u] = total;
  }
}

static inline void tvm_pulp_plain_past_mix(const struct tvm_pulp_past_mix_args *args, uint32_t core, uint32_t cores) {
  tvm_pulp_plain_past_sums(args, 1, core, cores);
}

static inline void tvm_pulp_plain_past_mix_by_element(const struct tvm_pulp_past_mix_args *args, uint32_t core,
                                                      uint32_t cores) {
  tvm_pulp_plain_past_sums(args, 4, core, cores);
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

static inline void tvm_pulp_plain_value_groups(const struct tvm_pulp_value_groups_args *args, uint32_t core,
                                               uint32_t cores) {
  const uint32_t known = (uint32_t)*args->length & 3u, columns = args->columns, groups = (args->rows + 6u) / 4u;
  struct tvm_pulp_range range = tvm_pulp_share(columns, core, cores);
  for (uint32_t place = 0; place < 4u * groups; ++place) {
    int8_t *y = args->y + (uintptr_t)(place >> 2) * 4u * columns + (place & 3u);
    const int8_t *v = args->v + (uintptr_t)(place - known) * columns;
    for (uint32_t i = range.begin; i < range.end; ++i)
      y[(uintptr_t)4u * i] = place < known                ? args->group[(uintptr_t)4u * i + place]
                             : place - known < args->rows ? v[i]
                                                          : (int8_t)0;
  }
}

#endif /* TVM_PULP_TWIN_PAST_PARTS_H */
