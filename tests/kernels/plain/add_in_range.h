/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums within a range. */
#ifndef TVM_PULP_TWIN_ADD_IN_RANGE_H
#define TVM_PULP_TWIN_ADD_IN_RANGE_H

#include "tvm_pulp/plain/elementwise.h"

static inline void tvm_pulp_plain_add_in_range(const struct tvm_pulp_add_in_range_args *p, uint32_t core,
                                               uint32_t cores) {
  TVM_PULP_EACH_ELEMENT(p->rows, p->columns, core, cores, {
    int32_t a = tvm_pulp_load(tvm_pulp_row(p->a, row, p->a_stride), column, p->a_type);
    int32_t b = tvm_pulp_load(tvm_pulp_row(p->b, row, p->b_stride), column, p->b_type);
    /* The sum fits 32 bits, so products may wrap around on the way. */
    uint32_t sum = (uint32_t)a * (uint32_t)p->mul_a + (uint32_t)b * (uint32_t)p->mul_b + (uint32_t)p->add;
    uint8_t *y = (uint8_t *)tvm_pulp_out_row(p->y, row, p->y_stride);
    y[column] = (uint8_t)tvm_pulp_clip((int32_t)sum >> p->shift, p->low, p->high);
  });
}

#endif /* TVM_PULP_TWIN_ADD_IN_RANGE_H */
