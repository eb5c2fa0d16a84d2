/* SPDX-License-Identifier: Apache-2.0
 *
 * Pure number crunching of the NEUREKA model: no engine state, no memory system. */
#ifndef NEUREKA_MODEL_ARITHMETIC_H
#define NEUREKA_MODEL_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Depths of matrix operands are padded with zeros to this many elements, output channels to this many rows. */
enum { NEUREKA_DEPTH_ALIGNMENT = 32, NEUREKA_ROW_ALIGNMENT = 4, NEUREKA_REQUANTIZED_CHANNELS = 64 };

/* weights.c: unpack bit planes into one byte per weight. `planes` holds `bits` pointers to beats of one bit plane each;
 * `count` weights are written, bit t of plane p giving bit p of weight t. */
void neureka_unpack_planes(const uint8_t *const *planes, unsigned bits, size_t count, uint8_t *weights);
/* A 1x1 beat: groups of four channels, eight planes of four bits each. Planes from `bits` up do not count. */
void neureka_unpack_pointwise(const uint8_t *beat, unsigned bits, size_t channels, uint8_t *weights);

/* arithmetic.c: all sums are modulo 2^32. */

/* sums[r][n] += dot(rows[r], columns[n]) over `depth` elements; `columns` has a multiple of NEUREKA_ROW_ALIGNMENT
 * rows, `depth` is a multiple of NEUREKA_DEPTH_ALIGNMENT; |rows| < 256, |columns| <= 256. */
void neureka_matrix_product(const int16_t *rows, size_t row_count, const int16_t *columns, size_t column_count,
                            size_t depth, uint32_t *sums, size_t sums_stride);
/* sums[c] += x[c] * w[c] */
void neureka_multiply_add(const int16_t *x, const int16_t *w, size_t count, uint32_t *sums);
/* Sum of a row. */
uint32_t neureka_row_sum(const int16_t *row, size_t depth);

/* Requantization of the channels of a Ko subtile. */
struct neureka_requantization {
  bool bias, relu, narrow; /* narrow: clip to 8 bits */
  uint32_t scales[NEUREKA_REQUANTIZED_CHANNELS], biases[NEUREKA_REQUANTIZED_CHANNELS];
  uint8_t shifts[NEUREKA_REQUANTIZED_CHANNELS]; /* 0 to 31 */
};
/* Send the accumulators of one pixel through scale, bias, shift and clip, in place. */
void neureka_requantize(const struct neureka_requantization *how, uint32_t *sums, size_t channels);

#endif /* NEUREKA_MODEL_ARITHMETIC_H */
