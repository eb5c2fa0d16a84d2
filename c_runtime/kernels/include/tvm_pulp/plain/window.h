/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a window of a convolution or a pool reads. */
#ifndef TVM_PULP_PLAIN_WINDOW_H
#define TVM_PULP_PLAIN_WINDOW_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

/* Input coordinate of output position `out` and kernel position `tap`; outside the image: not below `size`. */
TVM_PULP_INLINE uint32_t tvm_pulp_window_at(uint32_t out, uint32_t stride, uint32_t tap, uint32_t dilation,
                                            uint32_t pad) {
  /* A negative coordinate wraps to a number above every size. */
  return out * stride + tap * dilation - pad;
}

#endif /* TVM_PULP_PLAIN_WINDOW_H */
