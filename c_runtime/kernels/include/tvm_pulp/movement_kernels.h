/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments of the kernels that move images and tensors or combine neighbouring pixels; kernels.h, which includes this,
 * has the rules. */
#ifndef TVM_PULP_MOVEMENT_KERNELS_H
#define TVM_PULP_MOVEMENT_KERNELS_H

#include <stdint.h>

/* Windows over an NHWC image; what lies outside does not count. */
struct tvm_pulp_pool_args {
  const int8_t *x;
  int8_t *y;
  uint32_t height, width, channels;
  uint32_t out_height, out_width;
  uint32_t kernel_height, kernel_width;
  uint32_t stride_y, stride_x, dilation_y, dilation_x;
  uint32_t pad_top, pad_left;
  uint32_t x_type;
  int32_t low; /* avg_pool clips */
  int32_t high;
};

/* The sum of a window's values less the zero point, requantized to bytes: a multiplier that divides makes it a mean. */
struct tvm_pulp_mean_pool_args {
  struct tvm_pulp_pool_args pool; /* low and high do not matter */
  int32_t zero_point;
  struct tvm_pulp_requant requant; /* per tensor, or "per channel" by the number of values in a window, 0 to all. With
                                      shift_even, for four channels and more: a product with mul and a sum with add,
                                      which fit 32 bits, lose one where their shift by `shift` is odd beside the zero
                                      point */
};

/* y[i0][i1][i2][i3] = x[i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3]: a transpose of up to four axes, y dense. */
struct tvm_pulp_transpose_args {
  const void *x;
  void *y;
  uint32_t element_bytes; /* 1 or 4 */
  uint32_t size0, size1, size2, size3;
  uint32_t stride0, stride1, stride2, stride3;
};

/* Three planes of bytes as pixels of three channels: y[pixels][3]. */
struct tvm_pulp_join_planes_args {
  const uint8_t *x;
  uint8_t *y;
  uint32_t pixels;
  uint32_t plane_stride;
};

/* Rows of bytes from one place to another: one operand of a concatenation, a slice, a KV-cache append. */
struct tvm_pulp_copy_rows_args {
  const void *x;
  void *y;
  const uint8_t *table; /* 256 entries: what each byte becomes; null: itself */
  uint32_t table_stride; /* from one core's table to the next one's; 0: one for all. Cores that look up the same bytes
                            do not wait for each other where their tables begin in different banks */
  uint32_t rows;
  uint32_t row_bytes;
  uint32_t x_stride, y_stride;
};

/* Windows of an NHWC image as rows of a matrix: y[out_height * out_width][kernel rows, kernel columns, channels], with
 * pad_value where the window leaves the image. Bytes are moved, signed or not. */
struct tvm_pulp_im2col_args {
  const uint8_t *x;
  uint8_t *y;
  uint32_t height, width, channels;
  uint32_t out_height, out_width;
  uint32_t kernel_height, kernel_width;
  uint32_t stride_y, stride_x, dilation_y, dilation_x;
  uint32_t pad_top, pad_left;
  int32_t pad_value;
};

/* Blocks of 2 x 2 pixels as channels: y[height][width][4 * channels]. From planes x[channels][2 * height][2 * width]
 * the channels of y are ordered by plane, row, column; from pixels x[2 * height][2 * width][channels] by row, column,
 * channel. `flip` is exclusive-ored to every byte: 0x80 makes int8 unsigned. */
struct tvm_pulp_space_to_depth_args {
  const uint8_t *x;
  uint8_t *y;
  uint32_t height; /* of the result */
  uint32_t width;
  uint32_t channels; /* of the input */
  uint32_t is_planar;
  uint32_t flip;
};

/* An NHWC image as planes of blocks of block_height x 4 pixels: y[channels][grid_height][grid_width][block_height][4], with
 * pad_value where a block leaves the image. The first block begins `top` rows above and `left` columns in front of it. */
struct tvm_pulp_to_blocks_args {
  const uint8_t *x;
  uint8_t *y; /* word aligned */
  uint32_t height, width, channels;
  uint32_t grid_height, grid_width;
  uint32_t block_height;
  uint32_t plane_stride; /* bytes from a channel to the next one in y, a multiple of 4 */
  uint32_t top, left;
  int32_t pad_value;
};

/* The pixels y[height][width][channels] of planes x[channels][grid height][grid_width][block_height][block_width]. */
struct tvm_pulp_from_blocks_args {
  const void *x;
  void *y;
  uint32_t height, width, channels;
  uint32_t grid_width;
  uint32_t block_height, block_width;
  uint32_t plane_stride;  /* bytes from a channel to the next one in x */
  uint32_t element_bytes; /* 1 or 4 */
};

/* Every pixel of y[out_height][out_width][channels] is a weighted mean of a few pixels of x[][width][channels]:
 *
 *   acc = sum over column taps of weight * ((sum over row taps of weight * x + half) >> middle) - zero_point * 2^fraction
 *
 * Weights of a row, and of a column, add up to a power of two. Results within `slack` of a half are decided by the sum of
 * floats, row by row, where `thresholds` is given: the smallest sum that becomes the next integer. Fast with two row and
 * two column taps, middle 0, weights up to 2^6 in all and channels in fours; without weights the pixels are copied. */
struct tvm_pulp_resize_args {
  const uint8_t *x;
  uint8_t *y;
  const int32_t *rows; /* [out_height][row_taps] of the image; x begins with row first_row */
  const int32_t *row_weights;
  const int32_t *columns; /* [out_width][column_taps] */
  const int32_t *column_weights; /* null: copy, one tap each */
  const float *real_rows;        /* the weights as floats */
  const float *real_columns;
  const float *values;     /* of every byte, the smallest value first */
  const float *thresholds; /* for every byte of the result, the smallest first; null: round as requant says */
  uint32_t first_row;
  uint32_t width, channels;
  uint32_t out_height, out_width;
  uint32_t row_taps, column_taps;
  uint32_t middle;
  uint32_t fraction; /* at least 1 with thresholds */
  int32_t slack;
  int32_t zero_point;
  uint32_t x_type, y_type;
  struct tvm_pulp_requant requant; /* half_up or half_even, per tensor */
};

/* Bytes as planes of bits, four neighbours of a row in a word: bit 4 p + j of the word is bit p of byte j. Some
 * matrices, one behind the other in y; bits beyond the depth are 0. */
struct tvm_pulp_bit_planes_args {
  const uint8_t *x;
  uint8_t *y; /* word aligned */
  uint32_t matrices;
  uint32_t x_matrix_stride;
  uint32_t rows, depth; /* of a matrix in y; not turned: the depth, turned: the rows are a multiple of 4 */
  uint32_t x_stride;    /* between rows of x, which are rows of the matrix, or turned its columns */
  uint32_t y_stride;    /* a multiple of 4 */
  uint32_t turned;
  uint32_t flip; /* exclusive-ored to every four bytes: 0x80808080 adds 128 to int8; its bytes are the same */
};

#endif /* TVM_PULP_MOVEMENT_KERNELS_H */
