/* SPDX-License-Identifier: Apache-2.0
 *
 * Every core takes as many elements as the others and adds up the groups that they belong to by itself. Four elements
 * of a channel at a time. */
#include "norm_row.h"
#include "tvm_pulp/plain/group_norm.h"

#define EACH(OP) OP("%[v0]", "ft0") OP("%[v1]", "ft1") OP("%[v2]", "ft2") OP("%[v3]", "ft3")
#define SCALE(v, f) "mul " v "," v ",%[m]\n"
#define MOVE(v, f) "sub " v "," v ",%[t]\n"
#define FROM(v, f) "fcvt.s.w " f "," v "\n"
#define TIMES(v, f) "fmul.s " f "," f ",%[k]\n"
#define PLUS(v, f) "fadd.s " f "," f ",%[b]\n"
#define TO(v, f) "fcvt.w.s " v "," f ",rne\n"
#define ABOVE(v, f) XP_MAX(v, v, "%[l]")
#define BELOW(v, f) XP_MIN(v, v, "%[h]")
#define LOOP(LOAD)                                                                                               \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(LOAD, 1, "%[x]") EACH(SCALE) EACH(MOVE) EACH(FROM)         \
                   EACH(TIMES) EACH(PLUS) EACH(TO) EACH(ABOVE) EACH(BELOW) FOUR_PACK                             \
                   XP_ADD4("%[v0]", "%[v0]", "%[z]") XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END                \
                   : [x] "+r"(x), [y] "+r"(y), FOUR_VALUES                                                       \
                   : [n] "r"(n), [m] "r"(size), [t] "r"(total), [k] "f"(slope), [b] "f"(bias),                   \
                     [l] "r"(args->low), [h] "r"(args->high), [z] "r"(zeros)                                     \
                   : "memory", "ft0", "ft1", "ft2", "ft3")

/* Elements [at, at + count) of the whole, which are a channel's. */
static void normalize(const struct tvm_pulp_group_norm_args *args, uint32_t at, uint32_t count, uint32_t channel,
                      int32_t total, float factor) {
  const uint8_t *x = args->x + at;
  uint8_t *y = args->y + at;
  const float slope = factor * args->weight[channel], bias = args->bias[channel];
  const int32_t size = (int32_t)(args->channels * args->pixels);
  const int32_t zeros = (int32_t)((uint32_t)(args->zero_point & 0xff) * 0x01010101u);
  int32_t v0, v1, v2, v3;
  uint32_t n = count >> 2;
  if (n != 0u) XP_BY_SIGN(args->x_type, LOOP(XP_LB), LOOP(XP_LBU));
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    y[i] = (uint8_t)tvm_pulp_group_norm_value(args, size * tvm_pulp_load(x, i, args->x_type) - total, slope, bias);
  }
}

TVM_PULP_KERNEL(group_norm) {
  const uint32_t pixels = args->pixels, size = args->channels * pixels;
  struct tvm_pulp_range range = tvm_pulp_share_words(args->groups * size, core, cores);
  if (range.begin == range.end) return;
  uint32_t channel = range.begin / pixels, group = channel / args->channels, summed = ~0u;
  uint32_t next = (group + 1u) * args->channels, end = (channel + 1u) * pixels;
  int32_t total = 0;
  float factor = 0.0f;
  for (uint32_t at = range.begin; at < range.end; at = end, end += pixels) {
    if (summed != group) {
      const uint8_t *x = args->x + group * size;
      const uint32_t squares = tvm_pulp_row_sums(x, args->x_type, size, &total);
      factor = tvm_pulp_group_norm_factor(args, total, squares);
      summed = group;
    }
    normalize(args, at, (end < range.end ? end : range.end) - at, channel, total, factor);
    if (++channel == next) next += args->channels, ++group;
  }
}
