/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of 2 x 2 pixels as channels. */
#ifndef TVM_PULP_TWIN_SPACE_TO_DEPTH_H
#define TVM_PULP_TWIN_SPACE_TO_DEPTH_H

#include "tvm_pulp/plain/space_to_depth.h"

static inline void tvm_pulp_plain_space_to_depth(const struct tvm_pulp_space_to_depth_args *args, uint32_t core,
                                                 uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(args->height, core, cores);
  for (uint32_t oy = range.begin; oy < range.end; ++oy) tvm_pulp_plain_block_line(args, oy, 0);
}

#endif /* TVM_PULP_TWIN_SPACE_TO_DEPTH_H */
