/* SPDX-License-Identifier: Apache-2.0
 *
 * Four channels at a time are turned into planes of up to four words, which stay in registers: a row of weights per
 * output, whatever the size of the kernel was. Work is shared in groups of channels. */
#include "requantize_block.h"
#include "tvm_pulp/elements.h"
#include "tvm_pulp/plain/small_depthwise.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"
#include "turn_pixels.h"

#define W(i) XP_LW("%[w" #i "]", 4, "%[w]")
#define DOT_WITH(DOT, i) DOT("%[a]", "%[x" #i "]", "%[w" #i "]")
#define ONE(DOT) W(0) DOT_WITH(DOT, 0)
#define TWO(DOT) W(0) W(1) DOT_WITH(DOT, 0) DOT_WITH(DOT, 1)
#define THREE(DOT) W(0) W(1) W(2) DOT_WITH(DOT, 0) DOT_WITH(DOT, 1) DOT_WITH(DOT, 2)
#define FOUR(DOT) W(0) W(1) W(2) W(3) DOT_WITH(DOT, 0) DOT_WITH(DOT, 1) DOT_WITH(DOT, 2) DOT_WITH(DOT, 3)
#define RUN(ROW)                                                                                                 \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[a]", 4, "%[b]") ROW XP_LOOP_END XP_SW("%[a]", 4, "%[to]") XP_END \
                   : [w] "+r"(w), [b] "+r"(bias), [to] "+r"(to), [a] "=&r"(a),                  \
                     XP_FOUR("=&r", w)                                                          \
                   : [n] "r"(n), [x0] "r"(plane[0]), [x1] "r"(plane[x1]), [x2] "r"(plane[x2]), [x3] "r"(plane[x3]) \
                   : "memory")
#define RUN_ANY(DOT)                                                                            \
  if (words == 1u) RUN(ONE(DOT)); else if (words == 2u) RUN(TWO(DOT)); else if (words == 3u) RUN(THREE(DOT)); \
  else RUN(FOUR(DOT))

/* Sums of all outputs of four channels, or `multiplier` times as many. */
static void sum(const struct tvm_pulp_small_depthwise_args *args, const uint8_t *planes, uint32_t channel, int32_t *to) {
  uint32_t n = args->outputs, words = (args->pixels + 3u) >> 2, multiplier = args->multiplier;
  /* Words that the plane does not have are not used. */
  uint32_t x1 = words > 1u ? 1u : 0u, x2 = words > 2u ? 2u : 0u, x3 = words > 3u ? 3u : 0u;
  const int8_t *w = args->weight + channel * n * 4u * words;
  const int32_t *bias = args->bias + channel * n, *plane = (const int32_t *)(const void *)planes;
  int32_t a, w0, w1, w2, w3;
  for (uint32_t j = 0; j < 4u; ++j, plane += words) {
    for (uint32_t i = 0; i < multiplier; ++i) {
      XP_BY_SIGN(args->x_type, RUN_ANY(XP_SDOTSP), RUN_ANY(XP_SDOTUSP));
    }
  }
}

TVM_PULP_KERNEL(small_depthwise) {
  if (args->channels < 4u) {
    tvm_pulp_plain_small_depthwise(args, core, cores);
    return;
  }
  uint32_t stride = (args->pixels + 3u) & ~3u, bytes = tvm_pulp_result_bytes(&args->requant);
  uint32_t y_stride = args->channels * args->multiplier * bytes;
  uint8_t *planes = args->scratch + core * args->scratch_stride;
  int32_t *sums = (int32_t *)(void *)(planes + 4u * stride);
  struct tvm_pulp_range range = tvm_pulp_share((args->channels + 3u) >> 2, core, cores);
  for (uint32_t group = range.begin; group < range.end; ++group) {
    uint32_t first = 4u * group + 4u > args->channels ? args->channels - 4u : 4u * group;
    uint32_t channel = first * args->multiplier;
    tvm_pulp_turn_pixels(planes, stride, args->x + first, args->channels, args->pixels);
    sum(args, planes, channel, sums);
    tvm_pulp_requantize_channels(&args->requant, sums, args->outputs, 4u * args->multiplier,
                                 (uint8_t *)args->y + channel * bytes, y_stride, channel);
  }
}
