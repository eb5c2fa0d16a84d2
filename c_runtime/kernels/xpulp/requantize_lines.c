/* SPDX-License-Identifier: Apache-2.0 */
#include "requantize_lines.h"

#include "requantize_block.h"
#include "shift_loop.h"
#include "tvm_pulp/work_share.h"

/* The rows that are this core's. */
struct taken {
  const uint8_t *x;
  uint8_t *y;
  uint32_t rows, lines; /* rows of a line */
};

#define EACH_LINE(LOOP)                                                          \
  for (uint32_t left = t->lines; left > 0u; --left, x += gap) {                  \
    LOOP;                                                                        \
  }

static __attribute__((noinline)) void shift_rows(const struct tvm_pulp_requantize_args *p, const struct taken *t,
                                                 uint32_t channel) {
  const struct tvm_pulp_requant *r = &p->requant;
  const int32_t *shift = r->mul + channel, *add = r->add + channel;
  const uint8_t *x = t->x + 4u * channel;
  uint8_t *y = t->y + channel;
  uint32_t rows = t->rows, gap = p->x_line_stride - rows * p->x_stride;
  FOUR_LOCALS;
  if (r->low == 0) {
    EACH_LINE(SHIFT_LOOP(XP_CLIPUR, , ))
  } else {
    EACH_LINE(SHIFT_LOOP(XP_CLIPR, , ))
  }
}

/* One rounding, half up, by shifts above 32: the high word of the product, half a unit and the zero point in one
 * summand. Shifts from 33 to 53 leave room for both. */
static uint32_t is_high(const int32_t *shift) {
  uint32_t small = 1;
  for (uint32_t i = 0; i < 4u; ++i) small &= (uint32_t)(shift[i] - 33) <= 20u;
  return small;
}

static __attribute__((noinline)) void high_rows(const struct tvm_pulp_requantize_args *p, const struct taken *t,
                                                uint32_t channel) {
  const struct tvm_pulp_requant *r = &p->requant;
  const int32_t *mul = r->mul + channel;
  const uint8_t *x = t->x + 4u * channel;
  uint8_t *y = t->y + channel;
  uint32_t rows = t->rows, gap = p->x_line_stride - rows * p->x_stride;
  int32_t shift[4], add[4];
  FOUR_LOCALS;
  for (uint32_t i = 0; i < 4u; ++i) {
    shift[i] = r->add[channel + i] - 32;
    add[i] = (int32_t)((2u * (uint32_t)r->zero_point + 1u) << (shift[i] - 1));
  }
  if (r->low == 0) {
    EACH_LINE(SHIFT_LOOP(XP_CLIPUR, HIGH_WORDS, MULTIPLIERS))
  } else {
    EACH_LINE(SHIFT_LOOP(XP_CLIPR, HIGH_WORDS, MULTIPLIERS))
  }
}

/* Four channels of the rows by the general function, line by line. */
static __attribute__((noinline)) void any_rows(const struct tvm_pulp_requantize_args *p, const struct taken *t,
                                               uint32_t channel) {
  const uint8_t *x = t->x + 4u * channel;
  uint8_t *y = t->y;
  for (uint32_t left = t->lines; left > 0u; --left, x += p->x_line_stride, y += t->rows * p->y_stride) {
    tvm_pulp_requantize_columns(&p->requant, (const int32_t *)(const void *)x, p->x_stride / 4u, t->rows, 4, 1, y,
                                p->y_stride, channel);
  }
}

void tvm_pulp_requantize_lines(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores) {
  uint32_t groups = p->columns >> 2, first = core, step = cores, kind = p->requant.kind;
  struct taken t = {p->x, p->y, p->rows, p->lines};
  if (groups < cores) {
    uint32_t lines = p->lines > 1u;
    struct tvm_pulp_range range = tvm_pulp_share(lines ? p->lines : p->rows, core, cores);
    uint32_t count = range.end - range.begin;
    if (count == 0u) return;
    t.x += range.begin * (lines ? p->x_line_stride : p->x_stride);
    t.y += range.begin * (lines ? p->rows * p->y_stride : p->y_stride);
    *(lines ? &t.lines : &t.rows) = count;
    first = 0;
    step = 1;
  }
  for (; first < groups; first += step) {
    uint32_t channel = 4u * first;
    if (kind == TVM_PULP_REQUANT_SHIFT) {
      shift_rows(p, &t, channel);
    } else if (is_high(p->requant.add + channel)) {
      high_rows(p, &t, channel);
    } else {
      any_rows(p, &t, channel);
    }
  }
}
