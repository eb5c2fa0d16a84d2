/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows of an image as rows of a matrix. The same code for all machines: moving bytes, it needs words that may stand
 * anywhere and nothing else of XpulpV2. */
#ifndef TVM_PULP_PLAIN_IM2COL_H
#define TVM_PULP_PLAIN_IM2COL_H

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

/* Four bytes at a time wherever they lie: cores split a word that crosses a boundary, at the price of one cycle. */
TVM_PULP_INLINE uint8_t *tvm_pulp_copy_bytes(uint8_t *to, const uint8_t *from, uint32_t bytes) {
  for (; bytes >= 16u; bytes -= 16u, to += 16, from += 16) {
    int32_t a = tvm_pulp_xp_word(from), b = tvm_pulp_xp_word(from + 4);
    int32_t c = tvm_pulp_xp_word(from + 8), d = tvm_pulp_xp_word(from + 12);
    tvm_pulp_xp_put_word(to, a);
    tvm_pulp_xp_put_word(to + 4, b);
    tvm_pulp_xp_put_word(to + 8, c);
    tvm_pulp_xp_put_word(to + 12, d);
  }
  for (; bytes >= 4u; bytes -= 4u, to += 4, from += 4) tvm_pulp_xp_put_word(to, tvm_pulp_xp_word(from));
  for (; bytes != 0u; --bytes) *to++ = *from++;
  return to;
}

TVM_PULP_INLINE uint8_t *tvm_pulp_fill_bytes(uint8_t *to, uint32_t value, uint32_t bytes) {
  uint32_t word = (value & 0xFFu) * 0x01010101u;
  for (; bytes >= 4u; bytes -= 4u, to += 4) tvm_pulp_xp_put_word(to, (int32_t)word);
  for (; bytes != 0u; --bytes) *to++ = (uint8_t)value;
  return to;
}

/* One kernel row of a window that begins at column `left` of the image. */
TVM_PULP_INLINE uint8_t *tvm_pulp_im2col_row(const struct tvm_pulp_im2col_args *a, const uint8_t *line, int32_t left,
                                             uint8_t *to) {
  uint32_t channels = a->channels, taps = a->kernel_width;
  if (a->dilation_x == 1u) {
    int32_t right = left + (int32_t)taps - (int32_t)a->width;
    uint32_t before = left < 0 ? (uint32_t)-left : 0u, after = right > 0 ? (uint32_t)right : 0u;
    if (before > taps) before = taps;
    if (after > taps - before) after = taps - before;
    if (before != 0u) to = tvm_pulp_fill_bytes(to, (uint32_t)a->pad_value, before * channels);
    const uint8_t *from = line + (left + (int32_t)before) * (int32_t)channels;
    to = tvm_pulp_copy_bytes(to, from, (taps - before - after) * channels);
    return after != 0u ? tvm_pulp_fill_bytes(to, (uint32_t)a->pad_value, after * channels) : to;
  }
  for (uint32_t tap = 0; tap < taps; ++tap, left += (int32_t)a->dilation_x) {
    if (left < 0 || left >= (int32_t)a->width) {
      to = tvm_pulp_fill_bytes(to, (uint32_t)a->pad_value, channels);
    } else {
      to = tvm_pulp_copy_bytes(to, line + (uint32_t)left * channels, channels);
    }
  }
  return to;
}

TVM_PULP_INLINE void tvm_pulp_im2col_share(const struct tvm_pulp_im2col_args *a, uint32_t core, uint32_t cores) {
  struct tvm_pulp_range range = tvm_pulp_share(a->out_height * a->out_width, core, cores);
  uint32_t row_bytes = a->kernel_width * a->channels, line_bytes = a->width * a->channels;
  uint8_t *to = a->y + range.begin * a->kernel_height * row_bytes;
  uint32_t oy = range.begin / a->out_width, ox = range.begin - oy * a->out_width;
  for (uint32_t pixel = range.begin; pixel < range.end; ++pixel) {
    int32_t top = (int32_t)(oy * a->stride_y) - (int32_t)a->pad_top;
    int32_t left = (int32_t)(ox * a->stride_x) - (int32_t)a->pad_left;
    for (uint32_t ky = 0; ky < a->kernel_height; ++ky, top += (int32_t)a->dilation_y) {
      if (top < 0 || top >= (int32_t)a->height) {
        to = tvm_pulp_fill_bytes(to, (uint32_t)a->pad_value, row_bytes);
      } else {
        to = tvm_pulp_im2col_row(a, a->x + (uint32_t)top * line_bytes, left, to);
      }
    }
    if (++ox == a->out_width) {
      ox = 0;
      ++oy;
    }
  }
}

#endif /* TVM_PULP_PLAIN_IM2COL_H */
