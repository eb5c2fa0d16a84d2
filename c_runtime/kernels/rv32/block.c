/* SPDX-License-Identifier: Apache-2.0 */
#include "block.h"

#include "tvm_pulp/scale.h"

/* The compiler would like to multiply everything before it adds, and has no registers for that. */
#define ROW(type, i, s0, s1, s2, s3)                                                                  \
  do {                                                                                                \
    const int32_t v = ((const type *)x)[i];                                                           \
    s0 += v * w0, s1 += v * w1, s2 += v * w2, s3 += v * w3;                                           \
    __asm__ volatile("" : "+r"(s0), "+r"(s1), "+r"(s2), "+r"(s3));                                    \
  } while (0)

#define STEP(type, j)                                                                                 \
  do {                                                                                                \
    const int32_t w0 = weight[j], w1 = weight[4 + (j)], w2 = weight[8 + (j)], w3 = weight[12 + (j)];  \
    ROW(type, 4 * (j), s00, s01, s02, s03);                                                           \
    ROW(type, 4 * (j) + 1, s10, s11, s12, s13);                                                       \
    ROW(type, 4 * (j) + 2, s20, s21, s22, s23);                                                       \
    ROW(type, 4 * (j) + 3, s30, s31, s32, s33);                                                       \
    __asm__ volatile("" ::: "memory");                                                                \
  } while (0)

#define BLOCK(name, type)                                                                             \
  static void name(int32_t *sums, const uint8_t *x, const int8_t *weight, uint32_t words) {           \
    const int8_t *const end = weight + 16u * words;                                                   \
    int32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;                   \
    int32_t s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;                   \
    for (; weight != end; weight += 16, x += 16) {                                                    \
      STEP(type, 0);                                                                                  \
      STEP(type, 1);                                                                                  \
      STEP(type, 2);                                                                                  \
      STEP(type, 3);                                                                                  \
    }                                                                                                 \
    sums[0] = s00, sums[1] = s01, sums[2] = s02, sums[3] = s03;                                       \
    sums[4] = s10, sums[5] = s11, sums[6] = s12, sums[7] = s13;                                       \
    sums[8] = s20, sums[9] = s21, sums[10] = s22, sums[11] = s23;                                     \
    sums[12] = s30, sums[13] = s31, sums[14] = s32, sums[15] = s33;                                   \
  }

BLOCK(signed_block, int8_t)
BLOCK(unsigned_block, uint8_t)

void tvm_pulp_block(int32_t *sums, const uint8_t *x, const int8_t *weight, uint32_t words, uint32_t x_type) {
  if (x_type == TVM_PULP_INT8) signed_block(sums, x, weight, words);
  else unsigned_block(sums, x, weight, words);
}

void tvm_pulp_block_row(int32_t *sums, const uint8_t *x, const int8_t *weight, uint32_t words, uint32_t x_type) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  const int32_t low = x_type == TVM_PULP_INT8 ? 24 : 0; /* shifted up and down, a byte has its sign */
  for (; words != 0u; words--, weight += 16, x += 4) {
    for (uint32_t j = 0; j < 4u; j++) {
      const int32_t v = (int32_t)((uint32_t)x[j] << low) >> low;
      s0 += v * weight[j], s1 += v * weight[4 + j], s2 += v * weight[8 + j], s3 += v * weight[12 + j];
    }
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

void tvm_pulp_clear_rest(uint8_t *scratch, uint32_t rows, uint32_t depth) {
  for (; rows < TVM_PULP_BLOCK; rows++)
    for (uint32_t k = 0; k < depth; k++) scratch[TVM_PULP_BLOCK * k + rows] = 0;
  for (uint32_t at = TVM_PULP_BLOCK * depth; at % (4u * TVM_PULP_BLOCK) != 0u; at++) scratch[at] = 0;
}

/* What a number that was taken from all weights makes of each row. */
static void add_back(int32_t *more, const uint8_t *x, uint32_t depth, uint32_t x_type, int32_t weight_offset) {
  for (uint32_t row = 0; row < TVM_PULP_BLOCK; row++) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < depth; k++) sum += tvm_pulp_load(x, TVM_PULP_BLOCK * k + row, x_type);
    more[row] = weight_offset * sum;
  }
}

void tvm_pulp_multiply_rows(const uint8_t *x, uint32_t rows, const int8_t *weight, const int32_t *bias, uint32_t columns,
                            uint32_t depth, uint32_t x_type, int32_t weight_offset,
                            const struct tvm_pulp_requant *requant, uint8_t *y, uint32_t y_stride) {
  const uint32_t words = (depth + 3u) >> 2, bytes = tvm_pulp_result_bytes(requant);
  const uint32_t together = columns < TVM_PULP_BLOCK ? columns : TVM_PULP_BLOCK;
  int32_t more[TVM_PULP_BLOCK] = {0, 0, 0, 0};
  if (weight_offset != 0) add_back(more, x, depth, x_type, weight_offset);
  for (uint32_t block = 0; TVM_PULP_BLOCK * block < columns; block++, weight += 16u * words) {
    const uint32_t first = tvm_pulp_block_column(block, columns);
    int32_t sums[TVM_PULP_BLOCK * TVM_PULP_BLOCK];
    tvm_pulp_block(sums, x, weight, words, x_type);
    for (uint32_t c = 0; c < together; c++) {
      const int32_t start = bias ? bias[first + c] : 0;
      for (uint32_t row = 0; row < rows; row++) sums[TVM_PULP_BLOCK * row + c] += start + more[row];
      tvm_pulp_finish_channel(requant, sums + c, TVM_PULP_BLOCK, rows, y + (first + c) * bytes, y_stride, first + c);
    }
  }
}
