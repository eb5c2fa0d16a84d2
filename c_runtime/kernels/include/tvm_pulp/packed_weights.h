/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a weight of a packed matrix lies. */
#ifndef TVM_PULP_PACKED_WEIGHTS_H
#define TVM_PULP_PACKED_WEIGHTS_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

/* `depth_stride`: the depth rounded up to a multiple of 4. */
TVM_PULP_INLINE uint32_t tvm_pulp_packed_at(uint32_t column, uint32_t k, uint32_t columns, uint32_t depth_stride) {
  uint32_t block = column >> 2, lane = column & 3u;
  /* The last block reaches back. */
  if (columns >= 4u && 4u * block + 4u > columns) lane = column + 4u - columns;
  return block * 4u * depth_stride + (k >> 2) * 16u + lane * 4u + (k & 3u);
}

#endif /* TVM_PULP_PACKED_WEIGHTS_H */
