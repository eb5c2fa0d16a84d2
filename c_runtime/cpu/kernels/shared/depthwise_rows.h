/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolutions, row by row and some channels at once. The core's depthwise.h has defined before, with
 * TVM_PULP_DEPTHWISE_PIXELS and TVM_PULP_DEPTHWISE_CHANNELS,
 *
 *   tvm_pulp_depthwise_block    results of as many neighbouring pixels, or of one, and some channels; sums of them
 *                               where the rule is the layer's own */

TVM_PULP_INLINE void tvm_pulp_depthwise_pixels(const struct tvm_pulp_window *w,
                                               const struct tvm_pulp_depthwise_place *place, int32_t column,
                                               enum tvm_pulp_saturation saturation, const int32_t pixels,
                                               tvm_pulp_rule rule, const int32_t *constants, int8_t *y) {
  enum { CHANNELS = TVM_PULP_DEPTHWISE_CHANNELS };
  int32_t sums[TVM_PULP_DEPTHWISE_PIXELS * CHANNELS];
  tvm_pulp_depthwise_block(w, place, column, saturation, pixels, sums, y);
  if (saturation != TVM_PULP_S32) return;
  for (int32_t i = 0; i < pixels; i++) {
    int8_t made[CHANNELS]; /* results could be among the constants: by themselves they are made in vectors */
    for (int32_t c = 0; c < place->channels; c++)
      made[c] = (int8_t)rule(sums[i * CHANNELS + c], place->channel + c, constants);
    for (int32_t c = 0; c < place->channels; c++) y[i * w->channels + c] = made[c];
  }
}

TVM_PULP_INLINE void tvm_pulp_depthwise(const struct tvm_pulp_window *w, const int8_t *x, const tvm_pulp_factor *weight,
                                        const int32_t *scale, enum tvm_pulp_saturation saturation,
                                        tvm_pulp_rule rule, const int32_t *constants, int8_t *y, int8_t *rows) {
  enum { PIXELS = TVM_PULP_DEPTHWISE_PIXELS, CHANNELS = TVM_PULP_DEPTHWISE_CHANNELS };
  const int32_t taps = w->kernel_height * w->kernel_width, words = tvm_pulp_scale_words(CHANNELS, saturation);
  const int whole = w->channels % CHANNELS == 0;
  const int8_t *found[w->kernel_height];
  int32_t next = 0;
  tvm_pulp_begin_rows(w, rows);
  for (int32_t oy = 0; oy < w->out_height; oy++, y += w->out_width * w->channels) {
    tvm_pulp_find_rows(w, x, rows, oy, &next, found);
    for (int32_t k = 0; k < w->channels; k += CHANNELS) {
      const struct tvm_pulp_depthwise_place place = {
          .rows = found, .channel = k, .channels = whole || w->channels - k > CHANNELS ? CHANNELS : w->channels - k,
          .weight = weight + k * taps, .scale = scale + k / CHANNELS * words};
      int8_t *to = y + k;
      for (int32_t ox = 0, count; ox < w->out_width; ox += count, to += count * w->channels) {
        count = ox + PIXELS <= w->out_width ? PIXELS : 1;
        if (count == PIXELS)
          tvm_pulp_depthwise_pixels(w, &place, ox, saturation, PIXELS, rule, constants, to);
        else
          tvm_pulp_depthwise_pixels(w, &place, ox, saturation, 1, rule, constants, to);
      }
    }
  }
}
