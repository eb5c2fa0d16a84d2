/* SPDX-License-Identifier: Apache-2.0
 *
 * Requantization of accumulators in memory, any kind. */
#ifndef TVM_PULP_REQUANTIZE_BLOCK_H
#define TVM_PULP_REQUANTIZE_BLOCK_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/xpulp.h"

/* Accumulators of up to four rows and this many columns, between the product and requantization. */
enum { TVM_PULP_BLOCK_COLUMNS = 16 };

/* Accumulators of one channel and where their results go; what follows the scaling. */
struct tvm_pulp_strip {
  const int32_t *acc;
  uint32_t acc_step; /* words */
  uint8_t *y;
  uint32_t y_step; /* bytes */
  int32_t zero_point, low, high;
};

/* acc * mul / 2^(32 + right), halves up or to the even result: a shift above 32 concerns the high word of the product
 * alone, but for ties, which are those of all bits. */
TVM_PULP_XP int32_t tvm_pulp_rounded_product(int32_t acc, int32_t mul, int32_t right, uint32_t to_even) {
  int32_t high = (int32_t)((int64_t)acc * mul >> 32), value = tvm_pulp_xp_add_round_shift(high, 0, right);
  uint32_t beside_half = (((uint32_t)high << (32 - right)) ^ 0x80000000u) | ((uint32_t)acc * (uint32_t)mul);
  return to_even ? value - (value & (beside_half == 0u ? 1 : 0)) : value;
}

/* Every `step`-th of some columns, one at a time, so that a channel's constants stay in registers: accumulators
 * `acc_stride` words apart to results `y_stride` bytes apart, in the columns from `first` on of the rows y. */
void tvm_pulp_requantize_columns(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t acc_stride,
                                 uint32_t rows, uint32_t columns, uint32_t step, uint8_t *y, uint32_t y_stride,
                                 uint32_t first);

/* Up to four rows of a block: writes columns [first, first + columns) of the rows y. */
void tvm_pulp_requantize_block(const struct tvm_pulp_requant *requant, const int32_t *block, uint32_t rows,
                               uint32_t columns, uint8_t *y, uint32_t y_stride, uint32_t first);

/* One row of any length. */
void tvm_pulp_requantize_row(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t columns, uint8_t *y,
                             uint32_t first);

/* One channel: results `step` bytes apart. */
void tvm_pulp_requantize_channel(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count, void *y,
                                 uint32_t step, uint32_t channel);

/* Neighbouring channels from `first` on, `count` accumulators of one after those of the other; y is that of the first. */
void tvm_pulp_requantize_channels(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count,
                                  uint32_t channels, uint8_t *y, uint32_t step, uint32_t first);

/* <float biases> */
/* The same by high_word (kernels.h), at least two sums of each channel. */
void tvm_pulp_requantize_high_word_channels(const struct tvm_pulp_requant *requant, const int32_t *acc, uint32_t count,
                                            uint32_t channels, uint8_t *y, uint32_t step, uint32_t first);
/* </float biases> */

#endif /* TVM_PULP_REQUANTIZE_BLOCK_H */
