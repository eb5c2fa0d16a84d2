/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows over an image, and the sums of their values. */
#ifndef TVM_PULP_POOL_WINDOW_H
#define TVM_PULP_POOL_WINDOW_H

#include <stdint.h>

#include "tvm_pulp/kernels.h"
#include "tvm_pulp/xpulp.h"

/* The part of a window that lies inside the image: first pixel, and how many taps in each direction. */
struct window {
  const int8_t *x;
  uint32_t rows, columns;
  uint32_t row_step, column_step; /* bytes between taps */
};

/* First tap inside, and number of taps inside, of one direction. */
TVM_PULP_XP uint32_t clip_taps(int32_t start, uint32_t dilation, uint32_t taps, uint32_t size, uint32_t *first) {
  *first = (uint32_t)start;
  if (start >= 0 && (uint32_t)start + (taps - 1u) * dilation < size) return taps;
  uint32_t begin = 0;
  while (begin < taps && start + (int32_t)(begin * dilation) < 0) ++begin;
  uint32_t end = begin;
  while (end < taps && start + (int32_t)(end * dilation) < (int32_t)size) ++end;
  *first = (uint32_t)(start + (int32_t)(begin * dilation));
  return end - begin;
}

static struct window __attribute__((unused)) find_window(const struct tvm_pulp_pool_args *args, uint32_t oy, uint32_t ox) {
  struct window w;
  uint32_t iy, ix;
  w.rows = clip_taps((int32_t)(oy * args->stride_y - args->pad_top), args->dilation_y, args->kernel_height,
                     args->height, &iy);
  w.columns = clip_taps((int32_t)(ox * args->stride_x - args->pad_left), args->dilation_x, args->kernel_width,
                        args->width, &ix);
  w.x = args->x + (iy * args->width + ix) * args->channels;
  w.row_step = args->dilation_y * args->width * args->channels;
  w.column_step = args->dilation_x * args->channels;
  if (w.columns * w.column_step == w.row_step) {
    /* Whole lines follow each other without a gap. */
    w.columns *= w.rows;
    w.rows = 1;
  }
  return w;
}

/* Sums of four channels over one line of taps, two at a time. A vector with a single one picks a channel out of the
 * word. */
#define SUM_TAP(SDOT, w) \
  SDOT("%[s0]", w, "%[k0]") SDOT("%[s1]", w, "%[k1]") SDOT("%[s2]", w, "%[k2]") SDOT("%[s3]", w, "%[k3]")
#define SUM_TAPS(count, ...)                                                                                \
  __asm__ volatile(__VA_ARGS__                                                                              \
                   : [at] "+r"(at), [w] "=&r"(word), [g] "=&r"(next), XP_FOUR_OF("+r", s, total)            \
                   : [n] "r"(count), [step] "r"(w->column_step), [skip] "r"(skip), [k0] "r"(0x1), [k1] "r"(0x100), \
                     [k2] "r"(0x10000), [k3] "r"(0x1000000)                                                 \
                   : "memory")
#define SUM_LINE(SDOT)                                                                                      \
  do {                                                                                                      \
    if (w->columns > 1u) {                                                                                  \
      SUM_TAPS(w->columns >> 1,                                                                             \
               XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[w]", "%[step]", "%[at]") XP_LWR("%[g]", "%[step]", "%[at]") \
                   SUM_TAP(SDOT, "%[w]") SDOT("%[s0]", "%[g]", "%[k0]") SDOT("%[s1]", "%[g]", "%[k1]")      \
                       SDOT("%[s2]", "%[g]", "%[k2]") XP_LOOP_END SDOT("%[s3]", "%[g]", "%[k3]") XP_END);   \
    }                                                                                                       \
    if (w->columns & 1u) SUM_TAPS(0, XP_BEGIN XP_LWR("%[w]", "%[step]", "%[at]") SUM_TAP(SDOT, "%[w]") XP_END); \
  } while (0)
/* Lines of three, the common width: all of them in one loop, in which no load is waited for. */
#define SUM_THREES(SDOT)                                                                                    \
  SUM_TAPS(w->rows, XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[w]", "%[step]", "%[at]") XP_LWR("%[g]", "%[step]", "%[at]") \
                        SUM_TAP(SDOT, "%[w]") XP_LWR("%[w]", "%[step]", "%[at]") SUM_TAP(SDOT, "%[g]")      \
                            SUM_TAP(SDOT, "%[w]") XP_LOOP_END "add %[at],%[at],%[skip]\n" XP_END)

static void __attribute__((unused)) sum(const struct window *w, const int8_t *x, uint32_t x_type, int32_t total[4]) {
  const uint32_t skip = w->row_step - 3u * w->column_step;
  const int8_t *at = x;
  int32_t word, next;
  for (uint32_t i = 0; i < 4u; ++i) total[i] = 0;
  if (w->columns == 3u && w->rows > 0u) {
    XP_BY_SIGN(x_type, SUM_THREES(XP_SDOTSP), SUM_THREES(XP_SDOTUSP));
    return;
  }
  for (uint32_t row = 0; row < w->rows; ++row, x += w->row_step) {
    at = x;
    XP_BY_SIGN(x_type, SUM_LINE(XP_SDOTSP), SUM_LINE(XP_SDOTUSP));
  }
}

#endif /* TVM_PULP_POOL_WINDOW_H */
