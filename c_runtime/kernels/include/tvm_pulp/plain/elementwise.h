/* SPDX-License-Identifier: Apache-2.0
 *
 * Element-wise kernels in plain C. TVM_PULP_EACH_ELEMENT runs its statement for every element of this core's share,
 * with `row` and `column` set. */
#ifndef TVM_PULP_PLAIN_ELEMENTWISE_H
#define TVM_PULP_PLAIN_ELEMENTWISE_H

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"

#define TVM_PULP_EACH_ELEMENT(rows_, columns_, core_, cores_, statement)                               \
  do {                                                                                                 \
    struct tvm_pulp_range range_ = tvm_pulp_share((rows_) * (columns_), core_, cores_);                \
    uint32_t row = range_.begin / (columns_), column = range_.begin % (columns_);                      \
    for (uint32_t left_ = range_.end - range_.begin; left_ > 0u; --left_) {                            \
      statement;                                                                                       \
      if (++column == (columns_)) {                                                                    \
        column = 0u;                                                                                   \
        ++row;                                                                                         \
      }                                                                                                \
    }                                                                                                  \
  } while (0)

/* One operand of a sum: through a table, or as it is. */
TVM_PULP_INLINE int32_t tvm_pulp_plain_operand(const void *data, uint32_t index, uint32_t type, const int8_t *table,
                                               const int32_t *wide_table) {
  if (table) return table[((const uint8_t *)data)[index]];
  if (wide_table) return wide_table[((const uint8_t *)data)[index]];
  return tvm_pulp_load(data, index, type);
}

static inline void tvm_pulp_plain_add(const struct tvm_pulp_add_args *p, uint32_t core, uint32_t cores) {
  TVM_PULP_EACH_ELEMENT(p->rows, p->columns, core, cores, {
    const void *row_a = tvm_pulp_row(p->a, row, p->a_stride);
    const void *row_b = tvm_pulp_row(p->b, row, p->b_stride);
    int32_t a = tvm_pulp_plain_operand(row_a, column, p->a_type, p->table_a, p->wide_table_a);
    int32_t b = tvm_pulp_plain_operand(row_b, column, p->b_type, p->table_b, p->wide_table_b);
    void *row_y = tvm_pulp_out_row(p->y, row, p->y_stride);
    if (p->sum_table) {
      ((uint8_t *)row_y)[column] = p->sum_table[a + b - p->sum_low];
    } else {
      tvm_pulp_finish(&p->requant, row_y, column, a * p->mul_a + b * p->mul_b, column);
    }
  });
}

static inline void tvm_pulp_plain_mul(const struct tvm_pulp_mul_args *p, uint32_t core, uint32_t cores) {
  TVM_PULP_EACH_ELEMENT(p->rows, p->columns, core, cores, {
    int32_t a = tvm_pulp_load(tvm_pulp_row(p->a, row, p->a_stride), column, p->a_type) - p->zero_point_a;
    int32_t b = tvm_pulp_load(tvm_pulp_row(p->b, row, p->b_stride), column, p->b_type) - p->zero_point_b;
    tvm_pulp_finish(&p->requant, tvm_pulp_out_row(p->y, row, p->y_stride), column, a * b, column);
  });
}

/* A row of x, counted over all lines. */
static inline const void *tvm_pulp_plain_taken(const struct tvm_pulp_requantize_args *p, uint32_t row) {
  uint32_t line = row / p->rows;
  return tvm_pulp_row(tvm_pulp_row(p->x, line, p->x_line_stride), row - line * p->rows, p->x_stride);
}

/* What is left after an engine has multiplied. */
static inline void tvm_pulp_plain_shift(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_requant *r = &p->requant;
  TVM_PULP_EACH_ELEMENT(p->lines * p->rows, p->columns, core, cores, {
    int32_t x = tvm_pulp_load(tvm_pulp_plain_taken(p, row), column, p->x_type) - p->zero_point;
    uint32_t at = r->per_channel ? (p->per_row ? row : column) : 0u;
    int32_t shift = r->mul[at];
    int32_t total = x + r->add[at];
    if (r->kind == TVM_PULP_REQUANT_SHIFT_AWAY) {
      total += (total < 0 ? -r->shift : 0) + (2 * r->zero_point + 1) * (1 << (shift - 1));
    } else if (shift & 32) {
      shift -= 32;
      total -= ((total >> shift) ^ r->zero_point) & 1;
    }
    int32_t value = tvm_pulp_clip(total >> shift, r->low, r->high);
    tvm_pulp_store(r, tvm_pulp_out_row(p->y, row, p->y_stride), column, value);
  });
}

static inline void tvm_pulp_plain_requantize(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores) {
  uint32_t is_shift = p->requant.kind >= TVM_PULP_REQUANT_SHIFT;
  /* <float biases> */
  is_shift &= p->requant.kind <= TVM_PULP_REQUANT_SHIFT_AWAY;
  /* </float biases> */
  if (is_shift) {
    tvm_pulp_plain_shift(p, core, cores);
    return;
  }
  TVM_PULP_EACH_ELEMENT(p->lines * p->rows, p->columns, core, cores, {
    int32_t x = tvm_pulp_load(tvm_pulp_plain_taken(p, row), column, p->x_type) - p->zero_point;
    tvm_pulp_finish(&p->requant, tvm_pulp_out_row(p->y, row, p->y_stride), column, x, p->per_row ? row : column);
  });
}

static inline void tvm_pulp_plain_hardswish(const struct tvm_pulp_hardswish_args *p, uint32_t core, uint32_t cores) {
  TVM_PULP_EACH_ELEMENT(p->rows, p->columns, core, cores, {
    int32_t x = tvm_pulp_load(tvm_pulp_row(p->x, row, p->x_stride), column, p->x_type);
    int32_t gate = tvm_pulp_clip(x + p->three, 0, p->six) * p->one_over_six;
    tvm_pulp_finish(&p->requant, tvm_pulp_out_row(p->y, row, p->y_stride), column, x * gate, column);
  });
}

static inline void tvm_pulp_plain_gelu(const struct tvm_pulp_gelu_args *p, uint32_t core, uint32_t cores) {
  TVM_PULP_EACH_ELEMENT(p->rows, p->columns, core, cores, {
    int32_t x = tvm_pulp_load(tvm_pulp_row(p->x, row, p->x_stride), column, p->x_type);
    int32_t value = tvm_pulp_gelu(x, p->b, p->one);
    tvm_pulp_finish(&p->requant, tvm_pulp_out_row(p->y, row, p->y_stride), column, value, column);
  });
}

#endif /* TVM_PULP_PLAIN_ELEMENTWISE_H */
