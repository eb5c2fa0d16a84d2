/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a window one below the other. Where it leaves the image on one side, the word inside beside it is loaded
 * and shifted, and the border put into the gap: on both sides at once no line of four bytes can be left. */
#include "word_windows.h"

#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

/* Rows of the windows of one line of windows: above the image, inside, and the first of these. */
struct rows {
  uint32_t above, inside, below;
  const uint8_t *first;
};

static uint8_t *fill(uint8_t *to, int32_t word, uint32_t rows) {
  for (; rows > 0u; --rows, to += 4) tvm_pulp_xp_put_word(to, word);
  return to;
}

static struct rows find_rows(const struct tvm_pulp_im2col_args *a, uint32_t oy) {
  const uint32_t all = a->kernel_height, gap = a->dilation_y, border = a->pad_top, top = oy * a->stride_y;
  struct rows r = {0, 0, 0, a->x};
  if (top < border) r.above = gap == 1u ? border - top : (border - top + gap - 1u) / gap;
  if (r.above > all) r.above = all;
  const uint32_t first = top + r.above * gap - border;
  if (r.above < all && first < a->height) {
    r.inside = gap == 1u ? a->height - first : (a->height - first + gap - 1u) / gap;
    if (r.inside > all - r.above) r.inside = all - r.above;
    r.first += first * a->width * a->channels;
  }
  r.below = all - r.above - r.inside;
  return r;
}

#define EACH_ROW(BETWEEN, WHAT)                                                                             \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[v]", "%[xs]", "%[x]") BETWEEN XP_LOOP_END XP_SW("%[v]", 4, "%[y]") XP_END \
                   : [x] "+r"(from), [y] "+r"(to), [v] "=&r"(v)                                             \
                   : [n] "r"(rows), [xs] "r"(step)WHAT                                                      \
                   : "memory")

/* `before` and `after`: bytes of a row on either side of the image; one of both is 0. There is a row. */
static uint8_t *lay_rows(const uint8_t *from, uint32_t step, uint8_t *to, uint32_t rows, uint32_t before,
                         uint32_t after, int32_t pads) {
  int32_t v;
  if ((before | after) == 0u) {
    EACH_ROW("", );
    return to;
  }
  const uint32_t gap = 32u - 8u * (before + after);
  const int32_t border = (int32_t)(before ? (uint32_t)pads >> gap : (uint32_t)pads << gap);
#define SHIFTS , [up] "r"(8u * before), [down] "r"(8u * after), [b] "r"(border)
  EACH_ROW("sll %[v],%[v],%[up]\nsrl %[v],%[v],%[down]\nor %[v],%[v],%[b]\n", SHIFTS);
  return to;
}

void tvm_pulp_word_windows(const struct tvm_pulp_im2col_args *a, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_range range = tvm_pulp_share(a->out_height * a->out_width, core, cores);
  const int32_t line = (int32_t)(a->width * a->channels), x_step = (int32_t)(a->stride_x * a->channels);
  const int32_t pads = (int32_t)(((uint32_t)a->pad_value & 0xFFu) * 0x01010101u);
  const uint32_t step = a->dilation_y * (uint32_t)line;
  uint8_t *to = a->y + 4u * a->kernel_height * range.begin;
  uint32_t oy = range.begin / a->out_width, ox = range.begin - oy * a->out_width;
  for (uint32_t left = range.end - range.begin; left > 0u; ++oy, ox = 0) {
    const uint32_t count = a->out_width - ox < left ? a->out_width - ox : left;
    const struct rows r = find_rows(a, oy);
    int32_t x = ((int32_t)(ox * a->stride_x) - (int32_t)a->pad_left) * (int32_t)a->channels;
    for (uint32_t i = 0; i < count; ++i, x += x_step) {
      const int32_t before = tvm_pulp_xp_max(-x, 0), after = tvm_pulp_xp_max(x + 4 - line, 0);
      if (r.inside == 0u || before >= 4 || after >= 4) {
        to = fill(to, pads, a->kernel_height);
        continue;
      }
      to = fill(to, pads, r.above);
      to = lay_rows(r.first + (x + before - after), step, to, r.inside, (uint32_t)before, (uint32_t)after, pads);
      to = fill(to, pads, r.below);
    }
    left -= count;
  }
}
