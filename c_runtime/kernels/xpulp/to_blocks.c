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
  uint32_t line;  /* bytes of a line of the image */
  uint32_t has_edges;
  uint32_t pattern;
};

/* `words` words of four planes. */
static inline void fill(uint8_t *t0, uint32_t stride, uint32_t words, uint32_t pattern) {
  uint8_t *t1 = t0 + stride, *t2 = t1 + stride, *t3 = t2 + stride;
  if (!words) return;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_SW("%[v]", 4, "%[t0]") XP_SW("%[v]", 4, "%[t1]")
                       XP_SW("%[v]", 4, "%[t2]") XP_LOOP_END XP_SW("%[v]", 4, "%[t3]") XP_END
                   : XP_FOUR("+r", t)
                   : [n] "r"(words), [v] "r"(pattern)
                   : "memory");
}

/* Word `word` of a line, of which some pixels may be outside the image. */
static void edge_word(const struct layout *l, uint8_t *line, const uint8_t *x, uint32_t word) {
  const struct tvm_pulp_to_blocks_args *args = l->args;
  uint8_t *to = line + word * l->block;
  uint32_t at = 4u * word - args->left, pixels[4];
  for (uint32_t i = 0; i < 4u; ++i) {
    pixels[i] = at + i < args->width ? (uint32_t)tvm_pulp_xp_word(x + (at + i) * args->channels) : l->pattern;
  }
  for (uint32_t j = 0; j < 32u; j += 8u, to += args->plane_stride) {
    uint32_t low = (pixels[0] >> j & 0xffu) | (pixels[1] >> j & 0xffu) << 8;
    tvm_pulp_xp_put_word(to, low | (pixels[2] >> j & 0xffu) << 16 | (pixels[3] >> j) << 24);
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
                   : XP_FOUR("+r", t), [x] "+r"(x), XP_FOUR("=&r", w), XP_TWO("=&r", u)
                   : [n] "r"(n), [lines] "r"(lines), [s] "r"(channels), [ts] "r"(l->block),
                     [back] "r"(4u - n * l->block), [next] "r"((args->width - 4u * n) * channels), TVM_PULP_TURN_SELECTORS
                   : "memory");
}

/* A row of the blocks of four channels at `to`, whose first line is line `top` of the image; x: that line. */
static inline void lay_blocks(const struct layout *l, uint8_t *to, const uint8_t *x, int32_t top) {
  const struct tvm_pulp_to_blocks_args *args = l->args;
  uint32_t grid = args->grid_width, stride = args->plane_stride, rows = args->block_height;
  /* Lines of the row that are the image's. */
  int32_t end = (int32_t)args->height - top;
  uint32_t skipped = 0, bottom = rows;
  if (top < 0 || end < (int32_t)rows) {
    fill(to, stride, grid * rows, l->pattern);
    if (top < 0) skipped = (uint32_t)-top;
    if (end < (int32_t)rows) bottom = end < 0 ? 0u : (uint32_t)end;
    if (skipped >= bottom) return;
    x += skipped * l->line;
    to += 4u * skipped;
  } else {
    fill(to, stride, l->first * rows, l->pattern);
    fill(to + l->last * l->block, stride, (grid - l->last) * rows, l->pattern);
  }
  if (l->begin < l->end) turn_lines(l, to, x, bottom - skipped);
  if (!l->has_edges) return;
  for (uint32_t row = skipped; row < bottom; ++row, to += 4u, x += l->line) {
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
                     args->width * args->channels, 0, (uint32_t)(uint8_t)args->pad_value * 0x01010101u};
  if (l.last > grid) l.last = grid;
  if (l.end > grid) l.end = grid;
  if (l.first > l.last) l.first = l.last;
  if (l.end < l.begin) l.begin = l.end = l.first;
  l.has_edges = l.begin - l.first + l.last - l.end;
  struct tvm_pulp_range range = tvm_pulp_share(groups * args->grid_height, core, cores);
  uint32_t group = range.begin / args->grid_height, by = range.begin - group * args->grid_height;
  uint32_t rows = args->block_height, next = rows * l.line, row_bytes = grid * l.block;
  for (uint32_t left = range.end - range.begin; left > 0u; ++group, by = 0) {
    /* The last four channels reach back. */
    uint32_t channel = 4u * group + 4u > args->channels ? args->channels - 4u : 4u * group;
    int32_t top = (int32_t)(by * rows - args->top);
    uint8_t *to = args->y + channel * args->plane_stride + by * row_bytes;
    const uint8_t *x = args->x + top * (int32_t)l.line + channel;
    for (; by < args->grid_height && left > 0u; ++by, --left, top += (int32_t)rows, to += row_bytes, x += next) {
      lay_blocks(&l, to, x, top);
    }
  }
}
