/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments of kernels that work on two bytes in the halves of a word, for cores whose multiplier is scarce; kernels.h
 * has the rules. */
#ifndef TVM_PULP_PAIR_KERNELS_H
#define TVM_PULP_PAIR_KERNELS_H

#include <stdint.h>

/* What a byte becomes: ((byte ^ flip) * mul + add) >> shift. For no byte is the sum above 65535 or the result above
 * 255. `add` has its number in both halves. */
struct tvm_pulp_pair_scale {
  uint32_t mul; /* 1 with an add and a shift of 0: the byte itself */
  uint32_t add;
  uint32_t shift;
};

/* y = ((f(a) + g(b)) * mul + add) >> shift, clipped to 0..span, then ^ flip; rows of `columns` bytes. Nothing leaves 32
 * bits. A stride of 0 repeats one row. */
struct tvm_pulp_add_pairs_args {
  const uint8_t *a;
  const uint8_t *b; /* null: a alone, as it is */
  uint8_t *y;
  const int32_t *mul, *add;
  uint32_t per_channel; /* 0: mul and add hold one element, 1: one per column */
  uint32_t rows, columns;
  uint32_t a_stride, b_stride, y_stride;
  int32_t shift;
  int32_t span;
  uint32_t flip; /* in all four bytes: 0x80808080 for signed bytes, 0 for others */
  struct tvm_pulp_pair_scale f;
  struct tvm_pulp_pair_scale g;
};

#endif /* TVM_PULP_PAIR_KERNELS_H */
