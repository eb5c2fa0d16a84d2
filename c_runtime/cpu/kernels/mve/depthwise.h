/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, eight channels at once: values and weights of 16 bits, of which an instruction multiplies the
 * even and another the odd ones. */
#ifndef TVM_PULP_DEPTHWISE_H
#define TVM_PULP_DEPTHWISE_H

#include "lanes.h"
#include "window.h"

typedef int32_t (*tvm_pulp_sum_rule)(int32_t sum, int32_t channel, const int32_t *constants);

/* Results of eight channels of one pixel. */
TVM_PULP_INLINE void tvm_pulp_depthwise_pixel(const struct tvm_pulp_window *w, const int8_t *const *rows, int32_t place,
                                              const int8_t *weight, const int32_t *scale,
                                              enum tvm_pulp_saturation saturation, int32_t *sums, int8_t *y) {
  int32x4x2_t sum = vld2q_s32(scale);
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {
      const int8_t *from = rows[ky] + place + kx * w->dilation_width * w->channels;
      const int16x8_t factor = vldrbq_s16(weight + 8 * (ky * w->kernel_width + kx));
      const int16x8_t value =
          w->is_unsigned ? vreinterpretq_s16_u16(vldrbq_u16((const uint8_t *)from)) : vldrbq_s16(from);
      sum.val[0] = vaddq_s32(sum.val[0], vmullbq_int_s16(value, factor));
      sum.val[1] = vaddq_s32(sum.val[1], vmulltq_int_s16(value, factor));
    }
  }
  if (saturation == TVM_PULP_S32) {
    vst2q_s32(sums, sum);
    return;
  }
  const int32x4x2_t shift = vld2q_s32(scale + 8), multiply = vld2q_s32(scale + 16);
  int32x4x2_t add = vld2q_s32(scale + 24);
  if (saturation == TVM_PULP_S8_AWAY) {
    const int32x4x2_t less = vld2q_s32(scale + 32);
    for (int32_t v = 0; v < 2; v++) add.val[v] = vaddq_s32(add.val[v], tvm_pulp_less(sum.val[v], less.val[v]));
  }
  for (int32_t v = 0; v < 2; v++)
    sum.val[v] = tvm_pulp_scaled(sum.val[v], shift.val[v], multiply.val[v], add.val[v]);
  const int16x8_t even = vshrnbq_n_s32(vreinterpretq_s16_s32(sum.val[0]), sum.val[0], 16);
  const int8x16_t bytes = tvm_pulp_bytes_of(vshrntq_n_s32(even, sum.val[1], 16), saturation);
  vstrbq_s16(y, vreinterpretq_s16_s8(bytes));
}

TVM_PULP_INLINE void tvm_pulp_depthwise(const struct tvm_pulp_window *w, const int8_t *x, const int8_t *weight,
                                        const int32_t *scale, enum tvm_pulp_saturation saturation,
                                        tvm_pulp_sum_rule rule, const int32_t *constants, int8_t *y, int8_t *rows) {
  const int32_t taps = w->kernel_height * w->kernel_width, words = tvm_pulp_scale_words(8, saturation);
  const int8_t *found[w->kernel_height];
  int32_t next = 0;
  tvm_pulp_begin_rows(w, rows);
  for (int32_t oy = 0; oy < w->out_height; oy++, y += w->out_width * w->channels) {
    tvm_pulp_find_rows(w, x, rows, oy, &next, found);
    for (int32_t k = 0; k < w->channels; k += 8) {
      for (int32_t ox = 0; ox < w->out_width; ox++) {
        const int32_t place = ox * w->stride_width * w->channels + k;
        int8_t *to = y + ox * w->channels + k;
        int32_t sums[8];
        tvm_pulp_depthwise_pixel(w, found, place, weight + k * taps, scale + k / 8 * words, saturation, sums, to);
        for (int32_t c = 0; c < 8 && saturation == TVM_PULP_S32; c++) to[c] = (int8_t)rule(sums[c], k + c, constants);
      }
    }
  }
}

#endif /* TVM_PULP_DEPTHWISE_H */
