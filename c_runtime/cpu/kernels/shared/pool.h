/* SPDX-License-Identifier: Apache-2.0
 *
 * The largest value of windows, all channels of a pixel side by side: compilers make vectors of them. */
#ifndef TVM_PULP_POOL_H
#define TVM_PULP_POOL_H

#include "window.h"

#define TVM_PULP_LARGER(type, lowest)                                                                             \
  for (int32_t c = 0; c < w->channels; c++) ((type *)to)[c] = (lowest);                                           \
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {                                                             \
    const int32_t row = oy * w->stride_height - w->top + ky * w->dilation_height;                                 \
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {                                                            \
      const int32_t column = ox * w->stride_width - w->left + kx * w->dilation_width;                             \
      if (w->is_padded && (row < 0 || row >= w->height || column < 0 || column >= w->width)) continue;            \
      const type *from = (const type *)x + (row * w->width + column) * w->channels;                               \
      for (int32_t c = 0; c < w->channels; c++) ((type *)to)[c] = from[c] > ((type *)to)[c] ? from[c] : ((type *)to)[c]; \
    }                                                                                                             \
  }

/* Padding never wins. */
TVM_PULP_INLINE void tvm_pulp_max_pool(const struct tvm_pulp_window *w, const int8_t *restrict x, int8_t *restrict y) {
  for (int32_t oy = 0; oy < w->out_height; oy++) {
    for (int32_t ox = 0; ox < w->out_width; ox++) {
      int8_t *restrict to = y + (oy * w->out_width + ox) * w->channels;
      if (w->is_unsigned) {
        TVM_PULP_LARGER(uint8_t, 0)
      } else {
        TVM_PULP_LARGER(int8_t, -128)
      }
    }
  }
}

#endif /* TVM_PULP_POOL_H */
