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
    ROW(type, j, s00, s01, s02, s03);                                                                 \
    ROW(type, 4 + (j), s10, s11, s12, s13);                                                           \
    ROW(type, 8 + (j), s20, s21, s22, s23);                                                           \
    ROW(type, 12 + (j), s30, s31, s32, s33);                                                          \
    __asm__ volatile("" ::: "memory");                                                                \
  } while (0)

#define BLOCK(name, type)                                                                             \
  static void name(int32_t *sums, const int32_t *starts, const uint8_t *x, const int8_t *weight,      \
                   uint32_t words) {                                                                  \
    const int8_t *const end = weight + 16u * words;                                                   \
    int32_t s00 = starts[0], s01 = starts[1], s02 = starts[2], s03 = starts[3];                       \
    int32_t s10 = s00, s11 = s01, s12 = s02, s13 = s03, s20 = s00, s21 = s01, s22 = s02, s23 = s03;   \
    int32_t s30 = s00, s31 = s01, s32 = s02, s33 = s03;                                               \
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

void tvm_pulp_block(int32_t *sums, const int32_t *starts, const uint8_t *x, const int8_t *weight, uint32_t words,
                    uint32_t x_type) {
  if (x_type == TVM_PULP_INT8) signed_block(sums, starts, x, weight, words);
  else unsigned_block(sums, starts, x, weight, words);
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
  for (uint32_t row = 0; row < TVM_PULP_BLOCK; row++)
    for (uint32_t k = row < rows ? depth : 0u; k < ((depth + 3u) & ~3u); k++) *tvm_pulp_laid_at(scratch + 4u * row, k) = 0;
}

/* What a number that was taken from all weights makes of each row. */
static void add_back(int32_t *more, const uint8_t *x, uint32_t depth, uint32_t x_type, int32_t weight_offset) {
  for (uint32_t row = 0; row < TVM_PULP_BLOCK; row++) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < depth; k++) sum += tvm_pulp_load(x, 4u * (k & ~3u) + 4u * row + (k & 3u), x_type);
    more[row] = weight_offset * sum;
  }
}

/* Channels of four rows whose numbers the compiler promised to be small: scales without questions. */
#define FINISH_FOUR(away)                                                                              \
  for (; channels != 0u; channels--, sums++, y++, mul += step, add += step) {                          \
    struct tvm_pulp_scale scale = tvm_pulp_promised_scale(requant, *mul, *add);                        \
    y[0] = (uint8_t)tvm_pulp_scaled(sums[0], &scale, away);                                            \
    y[stride] = (uint8_t)tvm_pulp_scaled(sums[4], &scale, away);                                       \
    y[2u * stride] = (uint8_t)tvm_pulp_scaled(sums[8], &scale, away);                                  \
    y[3u * stride] = (uint8_t)tvm_pulp_scaled(sums[12], &scale, away);                                 \
  }

static void finish_four(const struct tvm_pulp_requant *requant, const int32_t *sums, uint8_t *y, uint32_t stride,
                        uint32_t channel, uint32_t channels) {
  const uint32_t step = requant->per_channel ? 1u : 0u;
  const int32_t *mul = requant->mul + step * channel, *add = requant->add + step * channel;
  if (tvm_pulp_is_rounded_away(requant)) FINISH_FOUR(1)
  else FINISH_FOUR(0)
}

void tvm_pulp_multiply_rows(const uint8_t *x, uint32_t rows, const int8_t *weight, const int32_t *bias,
                            uint32_t columns, uint32_t depth, uint32_t x_type, int32_t weight_offset,
                            const struct tvm_pulp_requant *requant, uint8_t *y, uint32_t y_stride) {
  const uint32_t words = (depth + 3u) >> 2, bytes = tvm_pulp_result_bytes(requant);
  const uint32_t together = columns < TVM_PULP_BLOCK ? columns : TVM_PULP_BLOCK;
  const int is_promised = rows == TVM_PULP_BLOCK && tvm_pulp_is_promised(requant);
  int32_t more[TVM_PULP_BLOCK] = {0, 0, 0, 0};
  if (weight_offset != 0) add_back(more, x, depth, x_type, weight_offset);
  for (uint32_t block = 0; TVM_PULP_BLOCK * block < columns; block++, weight += 16u * words) {
    const uint32_t first = tvm_pulp_block_column(block, columns);
    int32_t sums[TVM_PULP_BLOCK * TVM_PULP_BLOCK], starts[TVM_PULP_BLOCK] = {0, 0, 0, 0};
    for (uint32_t c = 0; bias && c < together; c++) starts[c] = bias[first + c];
    tvm_pulp_block(sums, starts, x, weight, words, x_type);
    if (weight_offset != 0)
      for (uint32_t at = 0; at < TVM_PULP_BLOCK * rows; at++) sums[at] += more[at / TVM_PULP_BLOCK];
    if (is_promised) {
      finish_four(requant, sums, y + first, y_stride, first, together);
      continue;
    }
    for (uint32_t c = 0; c < together; c++)
      tvm_pulp_finish_channel(requant, sums + c, TVM_PULP_BLOCK, rows, y + (first + c) * bytes, y_stride, first + c);
  }
}
