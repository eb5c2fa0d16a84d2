/* SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution by products of words, which hold two or three products of bytes each.
 *
 * Image rows of one channel are laid out as words: a pixel below, above it the one that the next output meets in its
 * place. One word times a weight is then a product for each of two outputs: "straight". Where outputs are one pixel
 * apart, three neighbouring weights u, v, w and four pixels a, b, c, d make six products with two multiplications:
 *
 *   (b + (a << 16)) * (u + (v << 16))   below: b * u of the second output; above: a * u + b * v of the first; "crossed"
 *   (c + (d << 16)) * (w + (v << 16))   below: c * w of the first output; above: c * v + d * w of the second; straight
 *
 * A sum of two products fills sixteen bits. Words are added up modulo 2^32, and so are their upper halves, which BIAS
 * keeps positive and free of borrows from below: the first sum, less the second one in its upper half, is what lies
 * below, exactly. Loops along an output row fit the 64 instructions that a core holds by itself, with their weights in
 * registers. */
#include "tvm_pulp/packed_weights.h"
#include "tvm_pulp/plain/window.h"
#include "tvm_pulp/scale.h"
#include "tvm_pulp/work_share.h"

#include "pairs.h"

/* Sums of two products of signed bytes are -32512 to 32768. */
#define BIAS (TVM_PULP_PAIR_OFFSET << 16 | TVM_PULP_PAIR_OFFSET)
#define LOWEST_PAIR 0x00800080u
/* This is computed before anything behind it: so much lies between a load or a multiplication and its use. */
#define HOLD(value) __asm__ volatile("" : "+r"(value))
#define LOAD(name, place)                                                                       \
  uint32_t name = place;                                                                        \
  HOLD(name)

enum { MOST_ROWS = 3, MOST_TAPS = 6 };

/* Sums of output rows, `pitch` words apart, over image rows that begin `below` words apart. */
struct lines {
  int32_t *sums;
  const uint32_t *x;
  uint32_t rows, pairs, pitch, below;
};

/* What lies below is above, and the other way round. */
TVM_PULP_INLINE uint32_t turned(uint32_t pair) { return (pair << 16) + (uint32_t)((int32_t)(pair + 0x8000u) >> 16); }

TVM_PULP_INLINE uint32_t above(uint32_t product) { return (product + BIAS) >> 16; }

/* Three columns of a window of `rows` rows, `step` words apart; two words of weights for each. */
TVM_PULP_INLINE void sum_triples(const struct lines *lines, const uint32_t *weight, uint32_t step, uint32_t rows) {
  uint32_t uv[MOST_ROWS], wv[MOST_ROWS];
  for (uint32_t i = 0; i < rows; i++) uv[i] = weight[2u * i], wv[i] = weight[2u * i + 1u];
  const uint32_t *begin = lines->x, below = lines->below, pitch = lines->pitch, columns = 2u * lines->pairs;
  int32_t *row = lines->sums, *const last = row + lines->rows * pitch;
  for (; row != last; row += pitch, begin += below) {
    const uint32_t *x[MOST_ROWS];
    uint32_t left[MOST_ROWS];
    int32_t *sums = row, *const end = row + columns;
    for (uint32_t i = 0; i < rows; i++) {
      x[i] = i == 0u ? begin : x[i - 1u] + step;
      left[i] = turned(x[i][0]);
    }
    for (; sums != end; sums += 2) {
      uint32_t p[MOST_ROWS], q[MOST_ROWS], crossed = 0, straight = 0, crossed_above = 0, straight_above = 0;
      for (uint32_t i = 0; i < rows; i++) {
        LOAD(right, x[i][2]);
        x[i] += 2;
        p[i] = left[i] * uv[i];
        HOLD(p[i]);
        if (i != 0u) {
          crossed += p[i - 1u];
          crossed_above += above(p[i - 1u]);
          HOLD(crossed_above);
        }
        q[i] = right * wv[i];
        HOLD(q[i]);
        left[i] = turned(right);
        HOLD(left[i]);
      }
      LOAD(first, (uint32_t)sums[0]);
      crossed += p[rows - 1u];
      crossed_above += above(p[rows - 1u]);
      HOLD(crossed_above);
      LOAD(second, (uint32_t)sums[1]);
      for (uint32_t i = 0; i < rows; i++) straight += q[i], straight_above += above(q[i]);
      first += straight - (straight_above << 16) + crossed_above;
      second += crossed - (crossed_above << 16) + straight_above;
      sums[0] = (int32_t)first;
      sums[1] = (int32_t)second;
    }
  }
}

/* Single weights, an even number of them, each with the distance of its pixels from those of the first output. */
struct tap {
  uint32_t weight, at;
};

/* Two products, and what lies above in their sum. */
#define ADD_PAIR(first) p[first] += p[(first) + 1u], all += p[first], all_above += above(p[first])

TVM_PULP_INLINE void sum_taps(const struct lines *lines, const struct tap *taps, uint32_t stride, uint32_t count) {
  uint32_t weight[MOST_TAPS], at[MOST_TAPS];
  for (uint32_t i = 0; i < count; i++) weight[i] = taps[i].weight, at[i] = taps[i].at;
  const uint32_t *begin = lines->x, below = lines->below, pitch = lines->pitch, columns = 2u * lines->pairs;
  int32_t *row = lines->sums, *const last = row + lines->rows * pitch;
  for (; row != last; row += pitch, begin += below) {
    const uint32_t *x[MOST_TAPS];
    int32_t *sums = row, *const end = row + columns;
    for (uint32_t i = 0; i < count; i++) x[i] = begin + at[i];
    for (; sums != end; sums += 2) {
      uint32_t pair[MOST_TAPS], p[MOST_TAPS], all = 0, all_above = 0;
#pragma GCC unroll 6
      for (uint32_t i = 0; i < count; i++) {
        pair[i] = *x[i];
        HOLD(pair[i]);
        x[i] += 2u * stride;
        if (i != 0u) {
          p[i - 1u] = pair[i - 1u] * weight[i - 1u];
          HOLD(p[i - 1u]);
        }
        if (i > 3u && i % 2u == 0u) {
          ADD_PAIR(i - 4u);
          HOLD(all_above);
        }
      }
      LOAD(first, (uint32_t)sums[0]);
      p[count - 1u] = pair[count - 1u] * weight[count - 1u];
      HOLD(p[count - 1u]);
      if (count > 2u) {
        ADD_PAIR(count - 4u);
        HOLD(all_above);
      }
      LOAD(second, (uint32_t)sums[1]);
      ADD_PAIR(count - 2u);
      sums[0] = (int32_t)(first + all - (all_above << 16));
      sums[1] = (int32_t)(second + all_above);
    }
  }
}

#define TRIPLES(name, rows)                                                                                        \
  static __attribute__((noinline)) void name(const struct lines *lines, const uint32_t *weight, uint32_t step) {   \
    sum_triples(lines, weight, step, rows);                                                                        \
  }
TRIPLES(one_row, 1u)
TRIPLES(two_rows, 2u)
TRIPLES(three_rows, 3u)
#define TAPS(name, count)                                                                                          \
  static __attribute__((noinline)) void name(const struct lines *lines, const struct tap *taps, uint32_t stride) { \
    sum_taps(lines, taps, stride, count);                                                                          \
  }
TAPS(two_taps, 2u)
TAPS(four_taps, 4u)
TAPS(six_taps, 6u)

/* A filter of one channel. */
struct filter {
  const int8_t *weight;
  uint32_t row_bytes, height, width;
};

/* How many rows go together where so many are left: 3, 2 and 2 of seven. */
TVM_PULP_INLINE uint32_t rows_of(uint32_t left) { return left == 3u || left > 4u ? 3u : left > 1u ? 2u : 1u; }

static void add_triples(const struct lines *lines, const struct filter *filter, uint32_t step) {
  for (uint32_t ky = 0, rows; ky < filter->height; ky += rows) {
    rows = rows_of(filter->height - ky);
    for (uint32_t kx = 0; kx + 3u <= filter->width; kx += 3u) {
      const int8_t *w = filter->weight + ky * filter->row_bytes + kx;
      const struct lines moved = {lines->sums,  lines->x + ky * step + kx, lines->rows,
                                  lines->pairs, lines->pitch,              lines->below};
      uint32_t words[2 * MOST_ROWS];
      for (uint32_t i = 0; i < rows; i++, w += filter->row_bytes) {
        const uint32_t middle = (uint32_t)w[1] << 16;
        words[2u * i] = (uint32_t)w[0] + middle;
        words[2u * i + 1u] = (uint32_t)w[2] + middle;
      }
      (rows == 3u ? three_rows : rows == 2u ? two_rows : one_row)(&moved, words, step);
    }
  }
}

/* Columns of a filter from `first` on, single weights; `apart` words between those of a row. */
static void add_taps(const struct lines *lines, const struct filter *filter, uint32_t first, uint32_t step,
                     uint32_t stride, uint32_t apart) {
  struct tap taps[MOST_TAPS];
  uint32_t count = 0, left = filter->height * (filter->width - first);
  for (uint32_t ky = 0; ky < filter->height; ky++) {
    for (uint32_t kx = first; kx < filter->width; kx++) {
      const uint32_t at = ky * step + kx * apart;
      taps[count++] = (struct tap){(uint32_t)filter->weight[ky * filter->row_bytes + kx], at};
      left--;
      if (left == 0u && count % 2u != 0u) taps[count++] = (struct tap){0, at};
      if (count == MOST_TAPS || left == 0u) {
        (count == 6u ? six_taps : count == 4u ? four_taps : two_taps)(lines, taps, stride);
        count = 0;
      }
    }
  }
}

/* What BIAS adds to the sums of the first and the second output of a pair: `crossed` and `straight` upper halves. */
static void start(const struct lines *lines, uint32_t bias, uint32_t crossed, uint32_t straight) {
  crossed *= TVM_PULP_PAIR_OFFSET;
  straight *= TVM_PULP_PAIR_OFFSET;
  const int32_t first = (int32_t)(bias + (straight << 16) - crossed);
  const int32_t second = (int32_t)(bias + (crossed << 16) - straight);
  int32_t *sums = lines->sums;
  for (uint32_t left = lines->rows * lines->pitch; left != 0u; left -= 2u, sums += 2) sums[0] = first, sums[1] = second;
}

/* The words of a row that are all padding, those that begin or end with it, and those inside, in this order. */
struct borders {
  uint32_t before, entering, inside, leaving, behind;
};

TVM_PULP_INLINE uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static struct borders borders_of(const struct tvm_pulp_depthwise_conv2d_args *args, uint32_t count) {
  const uint32_t left = args->pad_left, stride = args->stride_x, width = args->width;
  struct borders b = {.before = least(count, left > stride ? left - stride : 0u)};
  uint32_t rest = count - b.before;
  /* An image that is narrower than the stride is never in both halves. */
  b.entering = least(rest, left - b.before);
  rest -= b.entering;
  b.inside = least(rest, width > stride ? width - stride : 0u);
  rest -= b.inside;
  b.leaving = least(rest, width - b.inside);
  b.behind = rest - b.leaving;
  return b;
}

TVM_PULP_INLINE uint32_t *fill(uint32_t *to, uint32_t count, uint32_t word) {
  for (const uint32_t *const last = to + count; to != last; to++) *to = word;
  return to;
}

/* Rows of a channel from image row iy on as words, from their padding on; one outside the image is all padding. */
static void lay_rows(const struct tvm_pulp_depthwise_conv2d_args *args, uint32_t *to, const struct borders *borders,
                     const uint8_t *channel, uint32_t iy, uint32_t rows) {
  const uint32_t flip = args->x_type == TVM_PULP_INT8 ? LOWEST_PAIR : 0u, step = args->x_pixel_stride;
  const uint32_t padding = (uint32_t)args->pad_value & 0xFFu, plane = args->plane_stride, width = args->width;
  const uint32_t stride = args->stride_x, height = args->height, row_stride = args->x_row_stride;
  const struct borders b = *borders;
  const uint32_t count = b.before + b.entering + b.inside + b.leaving + b.behind;
  /* Pixels that the first entering word has above it lie so many steps into the row, or before it. */
  const uint32_t enters = stride + b.before - args->pad_left;
#define WORD(a, b) ((((a) | (b) << 16) ^ flip) - LOWEST_PAIR)
  const uint32_t outside = WORD(padding, padding);
  const uint8_t *row = channel + (uintptr_t)iy * row_stride;
  for (; rows != 0u; rows--, iy++, to += plane, row += row_stride) {
    if (iy >= height) {
      fill(to, count, outside);
      continue;
    }
    uint32_t *word = fill(to, b.before, outside);
    const uint8_t *below = row, *over = row + enters * step;
    for (uint32_t i = 0; i < b.entering; i++, over += step)
      *word++ = enters + i < width ? WORD(padding, (uint32_t)*over) : outside;
    if (b.inside != 0u) over = row + stride * step;
    if (stride == 1u && b.inside != 0u) {
      uint32_t first = *below;
      for (const uint32_t *const last = word + (b.inside & ~1u); word != last; word += 2) {
        LOAD(second, over[0]);
        LOAD(third, over[step]);
        over += 2u * step;
        word[0] = WORD(first, second);
        word[1] = WORD(second, third);
        first = third;
      }
      if ((b.inside & 1u) != 0u) {
        *word++ = WORD(first, (uint32_t)*over);
        over += step;
      }
      below = over - step;
    } else {
      for (const uint32_t *const last = word + b.inside; word != last; word++, below += step, over += step) {
        LOAD(first, *below);
        LOAD(second, *over);
        *word = WORD(first, second);
      }
    }
    for (uint32_t i = 0; i < b.leaving; i++, below += step) *word++ = WORD((uint32_t)*below, padding);
    fill(word, b.behind, outside);
  }
#undef WORD
}

static void run_filter(const struct tvm_pulp_depthwise_conv2d_args *args, const struct lines *lines, uint32_t out) {
  const uint32_t row_bytes = tvm_pulp_depthwise_row_bytes(args->kernel_width, args->stride_x);
  const struct filter filter = {args->weight + (uintptr_t)out * args->kernel_height * row_bytes, row_bytes,
                                args->kernel_height, args->kernel_width};
  const uint32_t triples = args->stride_x == 1u && args->dilation_x == 1u ? filter.width / 3u : 0u;
  const uint32_t step = args->dilation_y * args->plane_stride, rest = filter.height * (filter.width - 3u * triples);
  int32_t bias = args->bias[out];
  if (args->x_type == TVM_PULP_UINT8) bias += tvm_pulp_bias_of_flipped(filter.weight, filter.row_bytes, filter.height, filter.width);
  start(lines, (uint32_t)bias, filter.height * triples, filter.height * triples + ((rest + 1u) >> 1));
  if (triples != 0u) add_triples(lines, &filter, step);
  if (rest != 0u) add_taps(lines, &filter, 3u * triples, step, args->stride_x, args->dilation_x);
}

/* Two results at a time: the multiplier's answer takes four cycles. */
#define FINISH(product, result)                                                                 \
  for (; count > 1u; count -= 2u, sums += 2, y += 2u * step) {                                   \
    int32_t a = sums[0], b = sums[1];                                                           \
    a = product(a), b = product(b);                                                             \
    HOLD(a);                                                                                    \
    HOLD(b);                                                                                    \
    y[0] = (uint8_t)result(a);                                                                  \
    y[step] = (uint8_t)result(b);                                                               \
  }

/* Results of `count` sums of one channel, `step` bytes apart. */
static void finish(const struct tvm_pulp_requant *r, const int32_t *sums, uint32_t count, uint8_t *y, uint32_t step,
                   uint32_t channel) {
  const int32_t low = r->low, high = r->high, shift = r->shift;
  struct tvm_pulp_scale scale;
  if (r->kind == TVM_PULP_REQUANT_PULP_NARROW && r->wide_result == 0u) {
    const int32_t mul = r->mul[r->per_channel ? channel : 0u], add = r->add[r->per_channel ? channel : 0u];
#define PRODUCT(value) ((value) * mul)
#define RESULT(value) tvm_pulp_clip(((value) + add) >> shift, low, high)
    FINISH(PRODUCT, RESULT)
#undef PRODUCT
#undef RESULT
  } else if (tvm_pulp_scale_of(r, channel, &scale)) {
    const uint32_t factor = scale.factor;
    const int32_t summand = scale.summand, right = scale.shift;
#define PRODUCT(value) (int32_t)(((int64_t)(int32_t)((uint32_t)(value) << 1) * (int64_t)(uint64_t)factor) >> 32)
#define AWAY(value) tvm_pulp_clip(((value) + ((value) >> 31) * 2 + summand) >> right, low, high)
#define UP(value) tvm_pulp_clip(((value) + summand) >> right, low, high)
    if (scale.is_rounded_away) {
      FINISH(PRODUCT, AWAY)
    } else {
      FINISH(PRODUCT, UP)
    }
  }
  tvm_pulp_finish_channel(r, sums, 1, count, y, step, channel);
}

/* Cores share the output rows of all channels, one channel after the other. */
TVM_PULP_KERNEL(depthwise_conv2d) {
  const uint32_t width = args->out_width, pitch = (width + 3u) & ~3u, plane = args->plane_stride;
  const uint32_t columns = (width + 1u) & ~1u, bytes = tvm_pulp_result_bytes(&args->requant);
  const uint32_t count = (columns - 2u) * args->stride_x + (args->kernel_width - 1u) * args->dilation_x + 1u;
  const uint32_t reach = (args->kernel_height - 1u) * args->dilation_y + 1u;
  const uint32_t most = (args->plane_rows - reach) / args->stride_y + 1u;
  const struct borders borders = borders_of(args, count);
  /* Results of rows that lie behind each other are one run. */
  const int is_run = pitch == width && args->y_row_stride == width * args->y_pixel_stride;
  uint32_t *const planes = (uint32_t *)(void *)(args->scratch + core * args->scratch_stride);
  int32_t *const sums = (int32_t *)planes + args->plane_rows * plane;
  const uint32_t room = (args->scratch_stride / 4u - args->plane_rows * plane) / pitch;
  const struct tvm_pulp_range share = tvm_pulp_share(args->channels * args->out_height, core, cores);
  uint32_t channel = share.begin / args->out_height, oy = share.begin - channel * args->out_height;
  for (uint32_t left = share.end - share.begin, rows; left != 0u; left -= rows) {
    rows = args->out_height - oy < left ? args->out_height - oy : left;
    if (rows > most) rows = most;
    lay_rows(args, planes, &borders, (const uint8_t *)args->x + channel,
             tvm_pulp_window_at(oy, args->stride_y, 0, 1, args->pad_top), (rows - 1u) * args->stride_y + reach);
    for (uint32_t out = channel * args->multiplier; out < (channel + 1u) * args->multiplier; out++) {
      for (uint32_t i = 0, done; i < rows; i += done) {
        done = rows - i < room ? rows - i : room;
        const uint32_t below = args->stride_y * plane;
        const struct lines lines = {sums, planes + i * below, done, columns / 2u, pitch, below};
        run_filter(args, &lines, out);
        uint8_t *y = (uint8_t *)args->y + (oy + i) * args->y_row_stride + out * bytes;
        for (uint32_t k = 0; k < (is_run ? 1u : done); k++, y += args->y_row_stride)
          finish(&args->requant, sums + k * pitch, is_run ? done * width : width, y, args->y_pixel_stride, out);
      }
    }
    oy += rows;
    if (oy == args->out_height) {
      oy = 0;
      channel++;
    }
  }
}
