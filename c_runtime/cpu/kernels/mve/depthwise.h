/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, eight channels at once: values and weights of 16 bits, of which an instruction multiplies the
 * even and another the odd ones. */
#ifndef TVM_PULP_DEPTHWISE_H
#define TVM_PULP_DEPTHWISE_H

#include "lanes.h"
#include "window.h"

enum { TVM_PULP_DEPTHWISE_PIXELS = 1, TVM_PULP_DEPTHWISE_CHANNELS = 8 };
typedef int8_t tvm_pulp_factor;

TVM_PULP_INLINE void tvm_pulp_depthwise_block(const struct tvm_pulp_window *w,
                                              const struct tvm_pulp_depthwise_place *place, int32_t column,
                                              enum tvm_pulp_saturation saturation, int32_t pixels, int32_t *sums,
                                              int8_t *y) {
  const int8_t *weight = place->weight;
  const int32_t *scale = place->scale;
  const int32_t at = column * w->stride_width * w->channels + place->channel;
  (void)pixels; /* one */
  int32x4x2_t sum = vld2q_s32(scale);
  for (int32_t ky = 0; ky < w->kernel_height; ky++) {
    for (int32_t kx = 0; kx < w->kernel_width; kx++) {
      const int8_t *from = place->rows[ky] + at + kx * w->dilation_width * w->channels;
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

#include "depthwise_rows.h"

#endif /* TVM_PULP_DEPTHWISE_H */
