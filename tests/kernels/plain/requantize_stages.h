/* SPDX-License-Identifier: Apache-2.0
 *
 * What engines leave, rounded in stages. */
#ifndef TVM_PULP_TWIN_REQUANTIZE_STAGES_H
#define TVM_PULP_TWIN_REQUANTIZE_STAGES_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

static inline void tvm_pulp_plain_requantize_table(const struct tvm_pulp_requantize_table_args *args, uint32_t core,
                                                   uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t at = range.begin * args->columns; at < range.end * args->columns; ++at) {
    uint32_t column = at % args->columns;
    const int32_t *stage = args->stages + 2u * (column & ~3u) + (column & 3u);
    int32_t value = (args->x[at] + stage[4]) >> stage[0];
    uint32_t place = value < 0 ? 0u : value > 255 ? 255u : (uint32_t)value;
    args->y[at] = args->table[column * (uintptr_t)args->table_stride + place];
  }
}

static inline void tvm_pulp_plain_requantize_sum(const struct tvm_pulp_requantize_sum_args *args, uint32_t core,
                                                 uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t at = range.begin * args->columns; at < range.end * args->columns; ++at) {
    uint32_t column = at % args->columns;
    const int32_t *stage = args->stages + 2u * (column & ~3u) + (column & 3u);
    int32_t value = tvm_pulp_clip((args->x[at] + stage[4]) >> stage[0], -128, 127);
    uint32_t other = (uint32_t)tvm_pulp_load(args->b, at, args->b_type) * (uint32_t)args->mul_b;
    int32_t total = (int32_t)((uint32_t)value * (uint32_t)args->mul + other + (uint32_t)args->add);
    value = tvm_pulp_clip(total >> args->shift, -128, 127);
    args->y[at] = (uint8_t)(value + (args->y_type == TVM_PULP_INT8 ? 0 : 128));
  }
}

/* What the kernels below do before anything else: two roundings, to a signed byte. */
static inline int32_t tvm_pulp_plain_two_roundings(int32_t x, const int32_t *stages, uint32_t column, int32_t mul,
                                                   int32_t shift) {
  const int32_t *stage = stages + 3u * (column & ~3u) + (column & 3u);
  int32_t value = tvm_pulp_clip((x + stage[4]) >> stage[0], -128, 127);
  return tvm_pulp_clip((value * mul + stage[8]) >> shift, -128, 127);
}

static inline void tvm_pulp_plain_requantize_add_table(const struct tvm_pulp_requantize_add_table_args *args,
                                                       uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  for (uint32_t at = range.begin * args->columns; at < range.end * args->columns; ++at) {
    args->y[at] = args->table[128 + tvm_pulp_plain_two_roundings(args->x[at], args->stages, at % args->columns,
                                                                 args->mul, args->shift)];
  }
}

static inline void tvm_pulp_plain_requantize_add_sum(const struct tvm_pulp_requantize_add_sum_args *args, uint32_t core,
                                                     uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  const int32_t low = args->type == TVM_PULP_INT8 ? -128 : 0;
  for (uint32_t at = range.begin * args->columns; at < range.end * args->columns; ++at) {
    int32_t value =
        tvm_pulp_plain_two_roundings(args->x[at], args->stages, at % args->columns, args->mul, args->shift);
    uint32_t other = (uint32_t)tvm_pulp_load(args->b, at, args->type) * (uint32_t)args->mul_b;
    int32_t total = (int32_t)((uint32_t)value * (uint32_t)args->mul_a + other + (uint32_t)args->add);
    args->y[at] = (uint8_t)tvm_pulp_clip(total >> args->shift_sum, low, low + 255);
  }
}

#endif /* TVM_PULP_TWIN_REQUANTIZE_STAGES_H */
