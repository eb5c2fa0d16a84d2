/* SPDX-License-Identifier: Apache-2.0
 *
 * The result is written in order; the last axis is gathered, four bytes to a word. */
#include "gather.h"
#include "tile.h"

/* `count` elements of one line of the result. */
static void gather(const struct tvm_pulp_transpose_args *args, const uint8_t *x, uint8_t *y, uint32_t count) {
  if (args->element_bytes == 4u) {
    tvm_pulp_gather_words(x, y, count, args->stride3);
  } else if (args->stride3 == 1u && count >= 4u) {
    tvm_pulp_copy_words(y, x, count >> 2);
    for (uint32_t i = count & ~3u; i < count; ++i) y[i] = x[i];
  } else {
    tvm_pulp_gather_bytes(x, y, count, args->stride3);
  }
}

TVM_PULP_KERNEL(transpose) {
  uint32_t inner = args->size3, bytes = args->element_bytes;
  struct tvm_pulp_range range = tvm_pulp_share(args->size0 * args->size1 * args->size2 * inner, core, cores);
  uint32_t left = range.end - range.begin, line = range.begin / inner, i3 = range.begin - line * inner;
  uint32_t outer = line / args->size2, i2 = line - outer * args->size2;
  uint32_t i0 = outer / args->size1, i1 = outer - i0 * args->size1;
  uint8_t *y = (uint8_t *)args->y + range.begin * bytes;
  while (left > 0u) {
    uint32_t count = inner - i3 < left ? inner - i3 : left;
    const uint8_t *x = (const uint8_t *)args->x + i0 * args->stride0 + i1 * args->stride1 + i2 * args->stride2;
    gather(args, x + i3 * args->stride3, y, count);
    y += count * bytes;
    left -= count;
    i3 = 0;
    if (++i2 == args->size2) {
      i2 = 0;
      if (++i1 == args->size1) {
        i1 = 0;
        ++i0;
      }
    }
  }
}
