/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a depthwise convolution over planes. */
#ifndef TVM_PULP_DEPTHWISE_ROWS_H
#define TVM_PULP_DEPTHWISE_ROWS_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"

struct tvm_pulp_planes;
struct tvm_pulp_plane_rows;
typedef void (*tvm_pulp_rows)(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows);

struct tvm_pulp_planes {
  const struct tvm_pulp_depthwise_conv2d_args *args;
  uint8_t *planes;    /* [rows][4 channels][plane_stride] */
  int32_t *sums;      /* [sum_rows][sum_width] */
  uint32_t sum_rows, sum_width;
  uint32_t is_dense;  /* neither sums nor results have anything between two rows */
  uint32_t margin;    /* where pixel 0 stands in a row */
  uint32_t first;     /* where the first window starts */
  uint32_t pixels;    /* of an image row that any window reads */
  uint32_t row_step;  /* bytes from a row of the kernel to the next one in a plane */
  uint32_t next;      /* bytes from an output row to the next one in a plane */
  uint32_t weight_bytes; /* of a row of the kernel */
  uint32_t pad_pattern;
  uint32_t is_padding; /* a bit for each of the first 32 rows */
  tvm_pulp_rows fused; /* rows with their requantization, or null */
  tvm_pulp_rows sum;     /* sums of at most sum_rows rows */
};

/* Consecutive output rows of an output channel, or of several. */
struct tvm_pulp_plane_rows {
  const uint8_t *x;     /* first window of the first row */
  const int8_t *weight; /* of the channel */
  uint32_t channel, count;
  uint32_t channels;    /* neighbouring output channels from `channel` on, of functions that sum */
  int32_t *sums;        /* sum_width apart, of functions that sum; channel after channel */
  uint8_t *y;
};

/* Output rows, requantized: three kernel rows of one word, pulp_narrow to a range that one instruction clips. */
void tvm_pulp_depthwise_three_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows);

/* The same with a promised requantization (scaled.h). */
void tvm_pulp_depthwise_three_scaled_rows(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows);

/* Sums of any kernel. */
void tvm_pulp_depthwise_sums(const struct tvm_pulp_planes *p, const struct tvm_pulp_plane_rows *rows);

/* Sums by moved rows of weights (packed_weights.h), if there are: windows start at whole words then. Else null. */
tvm_pulp_rows tvm_pulp_depthwise_wide_sums(const struct tvm_pulp_depthwise_conv2d_args *args);

#endif /* TVM_PULP_DEPTHWISE_ROWS_H */
