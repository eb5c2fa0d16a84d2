/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows of an image, channels last: rows that are as wide as windows reach, with the zero point where there is no
 * image. Everything is inline, so that the numbers of a layer are constants in its code. */
#ifndef TVM_PULP_WINDOW_H
#define TVM_PULP_WINDOW_H

#include <stdint.h>

#include "tvm_pulp/integer.h"

struct tvm_pulp_window {
  int32_t height, width, channels; /* of the input */
  int32_t out_height, out_width;
  int32_t kernel_height, kernel_width, stride_height, stride_width, dilation_height, dilation_width;
  int32_t top, left, right; /* padding */
  int32_t is_padded;        /* some window reaches beyond the image */
  int32_t zero_point;
  int32_t is_unsigned;
};

/* Channels of a depthwise convolution that are computed at once: `channels` from `channel` on. */
struct tvm_pulp_depthwise_place {
  const int8_t *const *rows;
  int32_t channel, channels;
  const void *weight;
  const int32_t *scale;
};

typedef uint32_t __attribute__((may_alias, aligned(1))) tvm_pulp_bytes;

TVM_PULP_INLINE void tvm_pulp_copy_bytes(int8_t *to, const int8_t *from, int32_t count) {
  int32_t i = 0;
#pragma GCC unroll 4
  for (; i + 4 <= count; i += 4) *(tvm_pulp_bytes *)(void *)(to + i) = *(const tvm_pulp_bytes *)(const void *)(from + i);
  for (; i < count; i++) to[i] = from[i];
}

/* Rows that a window spans; as many lie in memory, behind one without image, where rows are padded at their sides. */
TVM_PULP_INLINE int32_t tvm_pulp_span(const struct tvm_pulp_window *w) {
  return (w->kernel_height - 1) * w->dilation_height + 1;
}

TVM_PULP_INLINE int32_t tvm_pulp_row_bytes(const struct tvm_pulp_window *w) {
  return (w->left + w->width + w->right) * w->channels;
}

TVM_PULP_INLINE void tvm_pulp_begin_rows(const struct tvm_pulp_window *w, int8_t *rows) {
  if (!w->is_padded) return;
  const int32_t kept = w->left + w->right > 0 ? 1 + tvm_pulp_span(w) : 1;
  __builtin_memset(rows, w->zero_point, (uint32_t)(kept * tvm_pulp_row_bytes(w)));
}

/* Rows of the windows of a row of results. `next`: the first row of the image that was not yet copied. */
TVM_PULP_INLINE void tvm_pulp_find_rows(const struct tvm_pulp_window *w, const int8_t *x, int8_t *rows, int32_t out_row,
                                        int32_t *next, const int8_t **found) {
  const int32_t bytes = w->width * w->channels, all = tvm_pulp_row_bytes(w), span = tvm_pulp_span(w);
  const int32_t first = out_row * w->stride_height - w->top;
  const int copied = w->left + w->right > 0;
  if (copied) {
    if (*next < first) *next = first;
    for (; *next < first + span && *next < w->height; ++*next)
      tvm_pulp_copy_bytes(rows + (1 + *next % span) * all + w->left * w->channels, x + *next * bytes, bytes);
  }
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    const int32_t row = first + ky * w->dilation_height;
    const int inside = !w->is_padded || (row >= 0 && row < w->height);
    found[ky] = !inside ? rows : copied ? rows + (1 + row % span) * all : x + row * bytes;
  }
}

#endif /* TVM_PULP_WINDOW_H */
