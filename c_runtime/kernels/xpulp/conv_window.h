/* SPDX-License-Identifier: Apache-2.0
 *
 * What one output pixel of a convolution reads, laid out as a row of a matrix. */
#ifndef TVM_PULP_CONV_WINDOW_H
#define TVM_PULP_CONV_WINDOW_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"

struct tvm_pulp_conv_windows {
  const struct tvm_pulp_conv2d_args *args;
  uint32_t pattern;        /* four bytes of padding */
  uint32_t row_bytes;      /* of a kernel row */
  uint32_t line_bytes;     /* of an image row */
  uint32_t is_dense;       /* the pixels of a kernel row are neighbours in memory */
  uint32_t is_short;       /* kernel rows of four to sixteen bytes */
  uint32_t end_y, end_x;   /* windows that start before these lie in the image, and their rows are regular */
  uint32_t end_ox;         /* the first output pixel beyond end_x */
};

void tvm_pulp_prepare_windows(struct tvm_pulp_conv_windows *windows, const struct tvm_pulp_conv2d_args *args);

/* The windows of `count` output pixels, depth_stride apart, from pixel ox of line oy on. Writes up to three bytes
 * behind the last. */
void tvm_pulp_lay_windows(const struct tvm_pulp_conv_windows *windows, uint8_t *target, uint32_t count, uint32_t oy,
                          uint32_t ox);

#endif /* TVM_PULP_CONV_WINDOW_H */
