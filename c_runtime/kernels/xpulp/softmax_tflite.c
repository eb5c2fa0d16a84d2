/* SPDX-License-Identifier: Apache-2.0
 *
 * Exponentials come from the table and are not negative, which makes both roundings of TFLite an addition and a shift
 * of unsigned numbers. */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/softmax_tflite.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

/* Table of a row: the entry of a value is its exponential against the row's largest. */
static const int32_t *row_table(const int32_t *table, const int8_t *x, uint32_t columns) {
  int32_t largest = -128;
  for (uint32_t i = 0; i < columns; ++i) largest = tvm_pulp_xp_max(largest, x[i]);
  return table + (255 - largest);
}

TVM_PULP_KERNEL(softmax_tflite) {
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  uint32_t columns = args->columns;
  for (uint32_t row = range.begin; row < range.end; ++row) {
    const int8_t *x = args->x + row * columns;
    int8_t *y = args->y + row * columns;
    const int32_t *table = row_table(args->table, x, columns);
    uint32_t total = 0;
    for (uint32_t i = 0; i < columns; ++i) total += ((uint32_t)table[x[i]] + (1u << 11)) >> 12;
    int32_t headroom = 31 - tvm_pulp_xp_fl1((int32_t)total);
    uint32_t inverse = (uint32_t)tvm_pulp_softmax_inverse(total << headroom);
    uint32_t bits = (uint32_t)tvm_pulp_softmax_bits(headroom), half = 1u << (bits - 1u);
    for (uint32_t i = 0; i < columns; ++i) {
      /* High word of twice the product, rounded half up. */
      uint64_t product = (uint64_t)inverse * (uint32_t)table[x[i]] + (1u << 30);
      y[i] = (int8_t)tvm_pulp_xp_min((int32_t)(((uint32_t)(product >> 31) + half) >> bits) - 128, 127);
    }
  }
}
