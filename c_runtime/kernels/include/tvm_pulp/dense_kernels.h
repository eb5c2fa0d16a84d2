/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments of products of rows with constant weights; kernels.h, which includes this one, has the rules. */
#ifndef TVM_PULP_DENSE_KERNELS_H
#define TVM_PULP_DENSE_KERNELS_H

#include <stdint.h>

/* y[rows][columns] = x[rows][depth] * weight[columns][depth]^T + bias. A zero point of x is folded into the bias.
 * depth_stride is the depth rounded up to a multiple of 4. Activations of 16 bits meet weights of 16 bits, which are
 * packed as twice as many bytes; depth_stride is then twice the depth rounded up, and there is no weight_offset. */
struct tvm_pulp_dense_args {
  const int8_t *x;
  const int8_t *weight; /* packed, word aligned */
  const int32_t *bias;  /* one per column; null for zeros, allowed for one row of a multiple of four columns with narrow
                           requantization to bytes */
  void *y;
  uint8_t *scratch; /* word aligned; scratch_stride >= 4 * depth_stride + 4; unused, but by rv32im/ and rv32/, where x is word
                       aligned and either its rows are depth_stride apart or there is one row */
  uint32_t scratch_stride;
  uint32_t rows, columns, depth;
  uint32_t x_stride, depth_stride, y_stride;
  uint32_t x_type; /* int8, uint8, int16 or uint16 */
  int32_t weight_offset; /* taken from every weight, so that it fits a byte; times the sum of a row it is added back */
  struct tvm_pulp_requant requant;
};

/* dense with 16-bit activations whose sums outgrow 32 bits: `part` bytes of the depth, a multiple of 4, give sums that
 * fit, and those of all parts are added in 64. Requantization is half_up, to bytes or 16 bits. */
struct tvm_pulp_long_dense_args {
  const int8_t *x;      /* word aligned; an even depth */
  const int8_t *weight; /* as of dense, of 16 bits */
  const int32_t *bias;  /* one per column */
  void *y;
  uint32_t rows, columns;
  uint32_t depth_stride, part, y_stride; /* rows of x are depth_stride apart */
  uint32_t x_type;                       /* int16 or uint16 */
  struct tvm_pulp_requant requant;
};

/* dense with one row and weights of four bits: two columns in a byte, 16 * odd + even + 8. Columns and depth are
 * multiples of 4. Blocks of four columns one after the other; in a block, four of the depth of the first two columns,
 * then of the other two, then the next four of the depth. */
struct tvm_pulp_nibble_dense_args {
  const int8_t *x;
  const int8_t *weight; /* word aligned */
  const int32_t *bias;  /* one per column; null for zeros */
  void *y;
  uint32_t columns, depth;
  uint32_t x_type;                 /* int8 or uint8 */
  struct tvm_pulp_requant requant; /* pulp_narrow, to bytes */
};

#endif /* TVM_PULP_DENSE_KERNELS_H */
