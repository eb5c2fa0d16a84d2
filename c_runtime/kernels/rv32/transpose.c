/* SPDX-License-Identifier: Apache-2.0
 *
 * Transpose. A matrix of bytes that changes rows and columns, layouts with channels first and last for example, is read
 * four rows at a time. */
#include "tvm_pulp/plain/movement.h"

#define COPY(j)                                                 \
  do {                                                          \
    const uint8_t a = r0[j], b = r1[j], c = r2[j], d = r3[j];   \
    y[0] = a, y[1] = b, y[2] = c, y[3] = d;                     \
    y += rows;                                                  \
  } while (0)

/* y[columns][rows] = x[rows][columns], four rows of x. */
static void turn_four(uint8_t *y, const uint8_t *x, uint32_t rows, uint32_t columns) {
  const uint8_t *r0 = x, *r1 = r0 + columns, *r2 = r1 + columns, *r3 = r2 + columns;
  uint32_t left = columns;
  for (; left >= 4u; left -= 4u, r0 += 4, r1 += 4, r2 += 4, r3 += 4) {
    COPY(0);
    COPY(1);
    COPY(2);
    COPY(3);
  }
  for (; left != 0u; left--, r0++, r1++, r2++, r3++) COPY(0);
}

static void turn(uint8_t *y, const uint8_t *x, uint32_t rows, uint32_t columns) {
  uint32_t row = 0;
  for (; row + 4u <= rows; row += 4u) turn_four(y + row, x + row * columns, rows, columns);
  for (; row < rows; row++) {
    for (uint32_t column = 0; column < columns; column++) y[column * rows + row] = x[row * columns + column];
  }
}

/* Cores share the matrices. */
TVM_PULP_KERNEL(transpose) {
  const uint32_t matrices = args->size0 * args->size1, elements = args->size2 * args->size3;
  if (args->element_bytes != 1u || args->stride2 != 1u || args->stride3 != args->size2) {
    tvm_pulp_plain_transpose(args, core, cores);
    return;
  }
  const struct tvm_pulp_range share = tvm_pulp_share(matrices, core, cores);
  for (uint32_t i = share.begin; i < share.end; i++) {
    const uint32_t outer = i / args->size1, inner = i % args->size1;
    const uint8_t *x = (const uint8_t *)args->x + outer * args->stride0 + inner * args->stride1;
    turn((uint8_t *)args->y + (uintptr_t)i * elements, x, args->size3, args->size2);
  }
}
