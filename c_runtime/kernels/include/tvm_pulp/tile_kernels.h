/* SPDX-License-Identifier: Apache-2.0
 *
 * Arguments of kernels that only cores in tiles have; kernels.h has the rules. */
#ifndef TVM_PULP_TILE_KERNELS_H
#define TVM_PULP_TILE_KERNELS_H

#include <stdint.h>

/* y = table[x], as `lookup`, with the same results in several tables: a power of two, of which every core reads one. */
struct tvm_pulp_spread_lookup_args {
  const uint8_t *x;
  uint8_t *y;
  const uint8_t *table; /* one behind the other */
  uint32_t count, tables;
};

#endif /* TVM_PULP_TILE_KERNELS_H */
