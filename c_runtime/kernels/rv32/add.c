/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of bytes, as they are or by narrow tables, that one multiply-accumulate, a shift and a clip finish, or a table
 * of all sums. */
#include "tvm_pulp/plain/elementwise.h"

#define ONE(i, left, right, result)                           \
  do {                                                        \
    const int32_t l = left(a[i]), r = right(b[i]);            \
    y[i] = (uint8_t)(result);                                 \
  } while (0)
#define EACH(left, right, result)                                     \
  do {                                                                \
    for (; count >= 4u; count -= 4u, a += 4, b += 4, y += 4) {        \
      ONE(0, left, right, result);                                    \
      ONE(1, left, right, result);                                    \
      ONE(2, left, right, result);                                    \
      ONE(3, left, right, result);                                    \
    }                                                                 \
    for (; count != 0u; count--, a++, b++, y++) ONE(0, left, right, result); \
  } while (0)
#define SIGNED(byte) ((int8_t)(byte))
#define UNSIGNED(byte) (byte)
#define BY_A(byte) (table_a[byte])
#define BY_B(byte) (table_b[byte])
/* The scaled sum fits 32 bits, so products may wrap around on the way. */
#define SCALED clipped((int32_t)((uint32_t)l * mul_a + (uint32_t)r * mul_b + add) >> shift, low, high)

#define SUMMED sums[l + r - first]

TVM_PULP_INLINE int32_t clipped(int32_t value, int32_t low, int32_t high) {
  if (__builtin_expect(value < low, 0)) return low;
  return __builtin_expect(value > high, 0) ? high : value;
}

static void add_scaled(const struct tvm_pulp_add_args *p, const uint8_t *a, const uint8_t *b, uint8_t *y,
                       uint32_t count) {
  const struct tvm_pulp_requant *const requant = &p->requant;
  const uint32_t of_sum = (uint32_t)requant->mul[0], mul_a = of_sum * (uint32_t)p->mul_a;
  const uint32_t mul_b = of_sum * (uint32_t)p->mul_b, add = (uint32_t)requant->add[0];
  const int32_t shift = requant->shift, low = requant->low, high = requant->high;
  const int8_t *const table_a = p->table_a, *const table_b = p->table_b;
  if (table_a) EACH(BY_A, BY_B, SCALED);
  else if (p->a_type == TVM_PULP_INT8 && p->b_type == TVM_PULP_INT8) EACH(SIGNED, SIGNED, SCALED);
  else if (p->a_type == TVM_PULP_INT8) EACH(SIGNED, UNSIGNED, SCALED);
  else if (p->b_type == TVM_PULP_INT8) EACH(UNSIGNED, SIGNED, SCALED);
  else EACH(UNSIGNED, UNSIGNED, SCALED);
}

static void add_by_table(const struct tvm_pulp_add_args *p, const uint8_t *a, const uint8_t *b, uint8_t *y,
                         uint32_t count) {
  const uint8_t *const sums = p->sum_table;
  const int32_t first = p->sum_low;
  const int8_t *const table_a = p->table_a, *const table_b = p->table_b;
  if (table_a && table_b) EACH(BY_A, BY_B, SUMMED);
  else if (table_a && p->b_type == TVM_PULP_INT8) EACH(BY_A, SIGNED, SUMMED);
  else if (table_a) EACH(BY_A, UNSIGNED, SUMMED);
  else if (table_b && p->a_type == TVM_PULP_INT8) EACH(SIGNED, BY_B, SUMMED);
  else if (table_b) EACH(UNSIGNED, BY_B, SUMMED);
  else if (p->a_type == TVM_PULP_INT8 && p->b_type == TVM_PULP_INT8) EACH(SIGNED, SIGNED, SUMMED);
  else if (p->a_type == TVM_PULP_INT8) EACH(SIGNED, UNSIGNED, SUMMED);
  else if (p->b_type == TVM_PULP_INT8) EACH(UNSIGNED, SIGNED, SUMMED);
  else EACH(UNSIGNED, UNSIGNED, SUMMED);
}

/* Cores share elements, or rows where these lie apart. */
TVM_PULP_KERNEL(add) {
  const struct tvm_pulp_requant *const r = &args->requant;
  const int is_narrow = !args->wide_table_a && !args->wide_table_b && !((args->a_type | args->b_type) & TVM_PULP_INT32) &&
                        !args->table_a == !args->table_b;
  const int is_scaled = r->kind == TVM_PULP_REQUANT_PULP_NARROW && !r->per_channel && !r->wide_result;
  if (!args->sum_table && !(is_narrow && is_scaled)) {
    tvm_pulp_plain_add(args, core, cores);
    return;
  }
  const uint32_t columns = args->columns;
  const int is_dense = args->a_stride == columns && args->b_stride == columns && args->y_stride == columns;
  /* Where rows follow each other, every element is a row and this core's share one piece. */
  const uint32_t size = is_dense ? 1u : columns, rows = args->rows * (columns / size);
  const uint32_t strides[] = {is_dense ? 1u : args->a_stride, is_dense ? 1u : args->b_stride, is_dense ? 1u : args->y_stride};
  const struct tvm_pulp_range share = tvm_pulp_share(rows, core, cores);
  const uint32_t step = is_dense ? share.end - share.begin : 1u;
  for (uint32_t row = share.begin; row < share.end; row += step) {
    const uint8_t *const a = tvm_pulp_row(args->a, row, strides[0]), *const b = tvm_pulp_row(args->b, row, strides[1]);
    uint8_t *const y = tvm_pulp_out_row(args->y, row, strides[2]);
    if (args->sum_table) add_by_table(args, a, b, y, size * step);
    else add_scaled(args, a, b, y, size * step);
  }
}
