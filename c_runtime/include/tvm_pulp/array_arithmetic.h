/* SPDX-License-Identifier: Apache-2.0
 *
 * Pure number crunching of models of convolution arrays, for the one file of a model that executes jobs: integer loops
 * written so that the host compiler turns them into packed multiply-adds. All sums are modulo 2^32. */
#ifndef TVM_PULP_ARRAY_ARITHMETIC_H
#define TVM_PULP_ARRAY_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Depths of matrix operands are padded with zeros to this many elements, output channels to this many rows. */
enum { ARRAY_DEPTH_ALIGNMENT = 32, ARRAY_ROW_ALIGNMENT = 4, ARRAY_MAX_CHANNELS = 64 };

/* Rounding of the channels of a Ko subtile. */
struct array_rounding {
  bool bias, relu, narrow; /* narrow: clip to 8 bits */
  uint32_t scales[ARRAY_MAX_CHANNELS], biases[ARRAY_MAX_CHANNELS];
  uint8_t shifts[ARRAY_MAX_CHANNELS]; /* 0 to 31 */
};

/* These loops pay for vectors whatever level the rest is built at. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/* Where the C library can pick a function at load time, offer it one for a wider instruction set. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_EACH_HOST __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_HOST
#endif

/* Products of bytes and weights of up to 510 are below 2^17 in magnitude, so this many fit a signed 32-bit sum. */
enum { SAFE_DEPTH = 16384 };

static inline __attribute__((always_inline)) void array_dot_2x4(const int16_t *a0, const int16_t *a1, const int16_t *b,
                                                          size_t stride, size_t depth, uint32_t *c0, uint32_t *c1) {
  const int16_t *b0 = b, *b1 = b + stride, *b2 = b + 2 * stride, *b3 = b + 3 * stride;
  int32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
  for (size_t k = 0; k < depth; k++) {
    s00 += a0[k] * b0[k];
    s01 += a0[k] * b1[k];
    s02 += a0[k] * b2[k];
    s03 += a0[k] * b3[k];
    s10 += a1[k] * b0[k];
    s11 += a1[k] * b1[k];
    s12 += a1[k] * b2[k];
    s13 += a1[k] * b3[k];
  }
  c0[0] += (uint32_t)s00, c0[1] += (uint32_t)s01, c0[2] += (uint32_t)s02, c0[3] += (uint32_t)s03;
  c1[0] += (uint32_t)s10, c1[1] += (uint32_t)s11, c1[2] += (uint32_t)s12, c1[3] += (uint32_t)s13;
}

/* sums[r][n] += dot(rows[r], columns[n]) over `depth` elements; `columns` has a multiple of ARRAY_ROW_ALIGNMENT rows,
 * `depth` is a multiple of ARRAY_DEPTH_ALIGNMENT; |rows| < 256, |columns| <= 510. */
FOR_EACH_HOST
static void array_matrix_product(const int16_t *rows, size_t row_count, const int16_t *columns, size_t column_count,
                                 size_t depth, uint32_t *sums, size_t sums_stride) {
  for (size_t first = 0; first < depth; first += SAFE_DEPTH) {
    /* Depth comes in whole groups; saying so spares the compiler the remainder loops. */
    const size_t left = depth - first < SAFE_DEPTH ? depth - first : SAFE_DEPTH;
    const size_t length = left / ARRAY_DEPTH_ALIGNMENT * ARRAY_DEPTH_ALIGNMENT;
    for (size_t n = 0; n < column_count; n += ARRAY_ROW_ALIGNMENT) {
      const int16_t *b = columns + n * depth + first;
      for (size_t r = 0; r < row_count; r += 2) {
        /* An odd last row is computed twice, once into a dummy. */
        uint32_t dummy[ARRAY_ROW_ALIGNMENT] = {0};
        const bool pair = r + 1 < row_count;
        const int16_t *a0 = rows + r * depth + first, *a1 = pair ? a0 + depth : a0;
        uint32_t *c0 = sums + r * sums_stride + n, *c1 = pair ? c0 + sums_stride : dummy;
        array_dot_2x4(a0, a1, b, depth, length, c0, c1);
      }
    }
  }
}

/* sums[c] += x[c] * w[c] */
FOR_EACH_HOST
static void array_multiply_add(const int16_t *x, const int16_t *w, size_t count, uint32_t *sums) {
  for (size_t c = 0; c < count; c++) sums[c] += (uint32_t)(x[c] * w[c]);
}

static uint32_t array_row_sum(const int16_t *row, size_t depth) {
  uint32_t sum = 0;
  for (size_t k = 0; k < depth; k++) sum += (uint32_t)row[k];
  return sum;
}

static inline int32_t array_clip(int64_t value, int64_t low, int64_t high) {
  return (int32_t)(value < low ? low : value > high ? high : value);
}

/* With a bias the product is cut to 32 bits before it is added, so everything happens modulo 2^32. Shifts of negative
 * numbers round down, on every compiler this builds with as in the hardware. */
FOR_EACH_HOST
static void array_round_with_bias(const struct array_rounding *how, uint32_t *sums, size_t channels) {
  const int32_t low = how->relu ? 0 : how->narrow ? -128 : INT32_MIN;
  const int32_t high = !how->narrow ? INT32_MAX : how->relu ? 255 : 127;
  for (size_t c = 0; c < channels; c++) {
    int32_t value = (int32_t)(sums[c] * how->scales[c] + how->biases[c]) >> how->shifts[c];
    value = value < low ? low : value;
    sums[c] = (uint32_t)(value > high ? high : value);
  }
}

/* Without a bias the product keeps 48 bits. A 32-bit output with ReLU passes the low 32 bits of what is not negative. */
static void array_round_without_bias(const struct array_rounding *how, uint32_t *sums, size_t channels) {
  const uint64_t sign = UINT64_C(1) << 47, mask = (sign << 1) - 1;
  for (size_t c = 0; c < channels; c++) {
    const uint64_t product = (uint64_t)(int64_t)(int32_t)sums[c] * how->scales[c];
    const int64_t value = (int64_t)(((product & mask) ^ sign) - sign) >> how->shifts[c];
    if (how->narrow) {
      sums[c] = (uint32_t)(how->relu ? array_clip(value, 0, 255) : array_clip(value, -128, 127));
    } else {
      sums[c] = how->relu ? (uint32_t)(value < 0 ? 0 : value) : (uint32_t)array_clip(value, INT32_MIN, INT32_MAX);
    }
  }
}

/* Send the accumulators of one pixel through scale, bias, shift and clip, in place. */
static void array_round(const struct array_rounding *how, uint32_t *sums, size_t channels) {
  if (how->bias) {
    array_round_with_bias(how, sums, channels);
  } else {
    array_round_without_bias(how, sums, channels);
  }
}

/* Byte k of the result is bit k of `bits`: a multiplication puts seven copies of the bits at distance seven, so that
 * no two bits meet and no carry arises; the eighth is taken directly. */
static inline uint64_t array_spread_bits(uint8_t bits) {
  const uint64_t low_seven = (uint64_t)(bits & 0x7Fu) * UINT64_C(0x0002040810204081);
  return (low_seven & UINT64_C(0x0101010101010101)) | ((uint64_t)(bits >> 7) << 56);
}

/* Bytes of a word in memory order, whatever the byte order of the host. */
static inline void array_store_bytes(uint8_t *destination, uint64_t word, size_t count) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(destination, &word, count);
#else
  for (size_t i = 0; i < count; i++) destination[i] = (uint8_t)(word >> (8 * i));
#endif
}

/* Bit planes, eight weights per step: bit t of plane p is bit p of weight t. */
static inline void array_unpack_planes(const uint8_t *const *planes, unsigned bits, size_t count, uint8_t *weights) {
  for (size_t first = 0; first < count; first += 8) {
    uint64_t word = 0;
    for (unsigned plane = 0; plane < bits; plane++) word |= array_spread_bits(planes[plane][first / 8]) << plane;
    if (count - first >= 8) {
      array_store_bytes(weights + first, word, 8);
    } else {
      array_store_bytes(weights + first, word, count - first);
    }
  }
}

#endif /* TVM_PULP_ARRAY_ARITHMETIC_H */
