/* SPDX-License-Identifier: Apache-2.0
 *
 * Four rows by four columns of a matrix product: sixteen sums in registers, two instructions a product and a load for
 * each two of them. */
#ifndef TVM_PULP_RV32_BLOCK_H
#define TVM_PULP_RV32_BLOCK_H

#include <stdint.h>

#include "tvm_pulp/integer.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/packed_weights.h"

/* A word of whatever bytes. */
typedef uint32_t __attribute__((may_alias)) tvm_pulp_word;

/* Rows lie in scratch by words beside each other: byte k of row i at 16 * (k / 4) + 4 * i + k % 4. */
TVM_PULP_INLINE uint8_t *tvm_pulp_laid_at(uint8_t *row, uint32_t k) { return row + 4u * (k & ~3u) + (k & 3u); }

/* `count` bytes of a row from byte k on. `row`: where its byte 0 lies. */
static inline void tvm_pulp_lay(uint8_t *row, uint32_t k, const uint8_t *from, uint32_t count) {
  uint8_t *to = tvm_pulp_laid_at(row, k);
  for (; (k & 3u) != 0u && count != 0u; k++, count--, to += (k & 3u) == 0u ? 13 : 1) *to = *from++;
  if (((uintptr_t)from & 3u) == 0u) {
    for (; count >= 16u; count -= 16u, from += 16, to += 64) {
      const tvm_pulp_word *const words = (const tvm_pulp_word *)(const void *)from;
      tvm_pulp_word *const places = (tvm_pulp_word *)(void *)to;
      const uint32_t a = words[0], b = words[1], c = words[2], d = words[3];
      places[0] = a, places[4] = b, places[8] = c, places[12] = d;
    }
    for (; count >= 4u; count -= 4u, from += 4, to += 16)
      *(tvm_pulp_word *)(void *)to = *(const tvm_pulp_word *)(const void *)from;
  }
  for (; count >= 4u; count -= 4u, from += 4, to += 16) {
    const uint8_t a = from[0], b = from[1], c = from[2], d = from[3];
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
  }
  for (; count != 0u; count--) *to++ = *from++;
}

/* Before the first rows are laid out in scratch: what is read and has no effect. Behind the depth weights are 0, and
 * rows that are not there are dropped. */
void tvm_pulp_clear_rest(uint8_t *scratch, uint32_t rows, uint32_t depth);

/* sums[row][column] of four rows in scratch and a block of packed weights; `starts`: one for each column. */
void tvm_pulp_block(int32_t *sums, const int32_t *starts, const uint8_t *x, const int8_t *weight, uint32_t words,
                    uint32_t x_type);
/* The same of a single row as it is. */
void tvm_pulp_block_row(int32_t *sums, const uint8_t *x, const int8_t *weight, uint32_t words, uint32_t x_type);

/* `rows` rows in scratch by all columns: sums, bias, requantization. y: the first row's. */
void tvm_pulp_multiply_rows(const uint8_t *x, uint32_t rows, const int8_t *weight, const int32_t *bias,
                            uint32_t columns, uint32_t depth, uint32_t x_type, int32_t weight_offset,
                            const struct tvm_pulp_requant *requant, uint8_t *y, uint32_t y_stride);

#endif /* TVM_PULP_RV32_BLOCK_H */
