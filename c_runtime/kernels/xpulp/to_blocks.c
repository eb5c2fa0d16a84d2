/* SPDX-License-Identifier: Apache-2.0
 *
 * Four channels at a time; words that are four pixels of the image are turned, those at its edges put together. */
#include "turn_pixels.h"
#include "tvm_pulp/plain/blocks.h"
#include "tvm_pulp/xpulp.h"

/* What all rows of blocks have in common. Words of a line with a pixel of the image: [first, last), with four [begin, end).
 */
struct layout {
  const struct tvm_pulp_to_blocks_args *args;
  uint32_t first, begin, end, last;
  uint32_t block; /* bytes from a word of a line to the next one */
  uint32_t pattern;
};

/* `words` words of four planes. */
static inline void fill(uint8_t *t0, uint32_t stride, uint32_t words, uint32_t pattern) {
  uint8_t *t1 = t0 + stride, *t2 = t1 + stride, *t3 = t2 + stride;
  if (!words) return;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_SW("%[v]", 4, "%[t0]") XP_SW("%[v]", 4, "%[t1]")
                       XP_SW("%[v]", 4, "%[t2]") XP_LOOP_END XP_SW("%[v]", 4, "%[t3]") XP_END
                   : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3)
                   : [n] "r"(words), [v] "r"(pattern)
                   : "memory");
}

/* Word `word` of a line, of which some pixels may be outside the image. */
static void edge_word(const struct layout *l, uint8_t *line, const uint8_t *x, uint32_t word) {
  const struct tvm_pulp_to_blocks_args *args = l->args;
  uint8_t *to = line + word * l->block;
  uint32_t at = 4u * word - args->left;
  for (uint32_t j = 0; j < 4u; ++j, to += args->plane_stride) {
    for (uint32_t i = 0; i < 4u; ++i) {
      to[i] = at + i < args->width ? x[(at + i) * args->channels + j] : (uint8_t)args->pad_value;
    }
  }
}

/* Whole words of some lines. */
static inline void turn_lines(const struct layout *l, uint8_t *line, const uint8_t *x, uint32_t lines) {
  const struct tvm_pulp_to_blocks_args *args = l->args;
  uint32_t n = l->end - l->begin, stride = args->plane_stride, channels = args->channels;
  uint8_t *t0 = line + l->begin * l->block, *t1 = t0 + stride, *t2 = t1 + stride, *t3 = t2 + stride;
  x += (4u * l->begin - args->left) * channels;
  int32_t w0, w1, w2, w3, u0, u1;
  __asm__ volatile(XP_BEGIN XP_OUTER_LOOP("%[lines]") XP_LOOP("%[n]") TVM_PULP_TURN_FOUR
                       XP_SWR("%[w1]", "%[ts]", "%[t0]") XP_SWR("%[u0]", "%[ts]", "%[t1]")
                           XP_SWR("%[w3]", "%[ts]", "%[t2]") XP_LOOP_END XP_SWR("%[w0]", "%[ts]", "%[t3]")
                               "add %[t0],%[t0],%[back]\nadd %[t1],%[t1],%[back]\nadd %[t2],%[t2],%[back]\n"
                               "add %[t3],%[t3],%[back]\n" XP_OUTER_LOOP_END "add %[x],%[x],%[next]\n" XP_END
                   : [t0] "+r"(t0), [t1] "+r"(t1), [t2] "+r"(t2), [t3] "+r"(t3), [x] "+r"(x), [w0] "=&r"(w0),
                     [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "=&r"(w3), [u0] "=&r"(u0), [u1] "=&r"(u1)
                   : [n] "r"(n), [lines] "r"(lines), [s] "r"(channels), [ts] "r"(l->block),
                     [back] "r"(4u - n * l->block), [next] "r"((args->width - 4u * n) * channels), TVM_PULP_TURN_SELECTORS
                   : "memory");
}

/* Row `by` of the blocks of four channels. */
static void lay_blocks(const struct layout *l, uint32_t by, uint32_t channel) {
  const struct tvm_pulp_to_blocks_args *args = l->args;
  uint32_t grid = args->grid_width, stride = args->plane_stride, rows = args->block_height;
  uint8_t *to = args->y + channel * stride + by * grid * l->block;
  /* Lines of the row that are the image's. */
  int32_t top = (int32_t)(by * rows - args->top), end = (int32_t)args->height - top;
  uint32_t skipped = top < 0 ? (uint32_t)-top : 0u, bottom = end < (int32_t)rows ? (end < 0 ? 0u : (uint32_t)end) : rows;
  if (skipped || bottom < rows) {
    fill(to, stride, grid * rows, l->pattern);
    if (skipped >= bottom) return;
  } else {
    fill(to, stride, l->first * rows, l->pattern);
    fill(to + l->last * l->block, stride, (grid - l->last) * rows, l->pattern);
  }
  const uint8_t *x = args->x + ((uint32_t)top + skipped) * args->width * args->channels + channel;
  to += 4u * skipped;
  if (l->begin < l->end) turn_lines(l, to, x, bottom - skipped);
  if (l->begin - l->first + l->last - l->end == 0u) return;
  for (uint32_t row = skipped; row < bottom; ++row, to += 4u, x += args->width * args->channels) {
    for (uint32_t word = l->first; word < l->begin; ++word) edge_word(l, to, x, word);
    for (uint32_t word = l->end; word < l->last; ++word) edge_word(l, to, x, word);
  }
}

TVM_PULP_KERNEL(to_blocks) {
  if (args->channels < 4u) {
    tvm_pulp_plain_to_blocks(args, core, cores);
    return;
  }
  uint32_t groups = (args->channels + 3u) >> 2, grid = args->grid_width, reach = args->left + args->width;
  struct layout l = {args, args->left >> 2, (args->left + 3u) >> 2, reach >> 2, (reach + 3u) >> 2, 4u * args->block_height,
                     (uint32_t)(uint8_t)args->pad_value * 0x01010101u};
  if (l.last > grid) l.last = grid;
  if (l.end > grid) l.end = grid;
  if (l.first > l.last) l.first = l.last;
  if (l.end < l.begin) l.begin = l.end = l.first;
  struct tvm_pulp_range range = tvm_pulp_share(groups * args->grid_height, core, cores);
  uint32_t group = range.begin / args->grid_height, by = range.begin - group * args->grid_height;
  for (uint32_t left = range.end - range.begin; left > 0u; --left) {
    /* The last four channels reach back. */
    lay_blocks(&l, by, 4u * group + 4u > args->channels ? args->channels - 4u : 4u * group);
    if (++by == args->grid_height) {
      by = 0;
      ++group;
    }
  }
}
