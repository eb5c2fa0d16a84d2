/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of a [depth][columns] byte matrix in the packed layout of kernels.h: blocks of 4 x 4 bytes are
 * turned. */
#ifndef TVM_PULP_PACK_COLUMNS_H
#define TVM_PULP_PACK_COLUMNS_H

#include <stdint.h>

#include "tvm_pulp/xpulp.h"

/* `from`: first of the columns in row 0. `flip` is applied to every word of input. Zeros follow up to a whole word. */
static inline void tvm_pulp_pack_columns(int32_t *packed, const int8_t *from, uint32_t depth, uint32_t stride,
                                         int32_t flip) {
  for (; depth >= 4u; depth -= 4u, packed += 4) {
    int32_t w[4];
    for (uint32_t j = 0; j < 4u; ++j, from += stride) w[j] = tvm_pulp_xp_word(from) ^ flip;
    tvm_pulp_xp_transpose4(w);
    for (uint32_t j = 0; j < 4u; ++j) packed[j] = w[j];
  }
  if (depth) {
    int32_t w[4] = {0, 0, 0, 0};
    for (uint32_t j = 0; j < depth; ++j, from += stride) w[j] = tvm_pulp_xp_word(from) ^ flip;
    tvm_pulp_xp_transpose4(w);
    for (uint32_t j = 0; j < 4u; ++j) packed[j] = w[j];
  }
}

#endif /* TVM_PULP_PACK_COLUMNS_H */
