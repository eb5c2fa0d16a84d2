/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernel rows are copied one after the other, for all windows of a line at once. */
#include "short_rows.h"
#include "tvm_pulp/plain/im2col.h"
#include "word_windows.h"

/* Which windows of a line lie inside the image with all their columns. */
struct inside {
  uint32_t begin, end;
};

static struct inside find_inside(const struct tvm_pulp_im2col_args *a) {
  int32_t room = (int32_t)(a->width + a->pad_left) - (int32_t)a->kernel_width;
  struct inside found = {(a->pad_left + a->stride_x - 1u) / a->stride_x, 0};
  if (room >= 0) found.end = (uint32_t)room / a->stride_x + 1u;
  return found;
}

static void copy_rows(const uint8_t *from, uint8_t *to, uint32_t bytes, uint32_t count, uint32_t from_step,
                      uint32_t to_step) {
  if (bytes <= TVM_PULP_LONGEST_SHORT_ROW) {
    tvm_pulp_copy_short_rows(from, to, bytes, count, from_step, to_step);
  } else {
    tvm_pulp_copy_long_rows(from, to, bytes, count, from_step, to_step);
  }
}

/* One kernel row of a window that begins at column `left` and reaches over an edge of the image. */
static void lay_over_edge(const struct tvm_pulp_im2col_args *a, const uint8_t *line, int32_t left, uint8_t *to) {
  int32_t taps = (int32_t)a->kernel_width, width = (int32_t)a->width;
  uint32_t before = (uint32_t)tvm_pulp_xp_min(tvm_pulp_xp_max(-left, 0), taps) * a->channels;
  uint32_t behind = (uint32_t)tvm_pulp_xp_min(tvm_pulp_xp_max(left + taps - width, 0), taps) * a->channels;
  uint32_t bytes = a->kernel_width * a->channels, inside = before + behind < bytes ? bytes - before - behind : 0u;
  const uint8_t *from = line + (left > 0 ? (uint32_t)left : 0u) * a->channels;
  to = tvm_pulp_fill_bytes(to, (uint32_t)a->pad_value, before < bytes ? before : bytes);
  if (inside >= TVM_PULP_SHORTEST_ROW) {
    copy_rows(from, to, inside, 1, 0, 0);
    to += inside;
  } else {
    to = tvm_pulp_copy_bytes(to, from, inside);
  }
  if (before < bytes) tvm_pulp_fill_bytes(to, (uint32_t)a->pad_value, bytes - before - inside);
}

/* One kernel row of the windows [begin, end) of a line of windows. */
static void lay_line(const struct tvm_pulp_im2col_args *a, const uint8_t *line, struct inside inside, uint32_t begin,
                     uint32_t end, uint8_t *to) {
  uint32_t bytes = a->kernel_width * a->channels, y_step = a->kernel_height * bytes;
  while (begin < end) {
    uint32_t last = inside.end < end ? inside.end : end;
    if (begin >= inside.begin && begin < last) {
      const uint8_t *from = line + (begin * a->stride_x - a->pad_left) * a->channels;
      copy_rows(from, to, bytes, last - begin, a->stride_x * a->channels, y_step);
      to += (last - begin) * y_step;
      begin = last;
    } else {
      lay_over_edge(a, line, (int32_t)(begin * a->stride_x - a->pad_left), to);
      to += y_step;
      ++begin;
    }
  }
}

TVM_PULP_KERNEL(im2col) {
  uint32_t bytes = args->kernel_width * args->channels, y_step = args->kernel_height * bytes;
  if (bytes == 4u && (args->dilation_x == 1u || args->kernel_width == 1u) && args->width * args->channels >= 4u) {
    tvm_pulp_word_windows(args, core, cores);
    return;
  }
  if (args->dilation_x != 1u || bytes < TVM_PULP_SHORTEST_ROW) {
    tvm_pulp_im2col_share(args, core, cores);
    return;
  }
  struct tvm_pulp_range range = tvm_pulp_share(args->out_height * args->out_width, core, cores);
  struct inside inside = find_inside(args);
  uint32_t oy = range.begin / args->out_width, ox = range.begin - oy * args->out_width;
  uint8_t *to = args->y + range.begin * y_step;
  for (uint32_t left = range.end - range.begin; left > 0u; ++oy, ox = 0) {
    uint32_t count = args->out_width - ox < left ? args->out_width - ox : left;
    for (uint32_t ky = 0; ky < args->kernel_height; ++ky) {
      uint32_t iy = oy * args->stride_y + ky * args->dilation_y - args->pad_top;
      uint8_t *row = to + ky * bytes;
      if (iy < args->height) {
        lay_line(args, args->x + iy * args->width * args->channels, inside, ox, ox + count, row);
      } else {
        /* Rows after the first are copies of it. */
        tvm_pulp_fill_bytes(row, (uint32_t)args->pad_value, bytes);
        if (count > 1u) copy_rows(row, row + y_step, bytes, count - 1u, 0, y_step);
      }
    }
    to += count * y_step;
    left -= count;
  }
}
