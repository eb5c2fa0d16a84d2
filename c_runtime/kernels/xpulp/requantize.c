/* SPDX-License-Identifier: Apache-2.0 */
#include "four_elements.h"
#include "requantize_block.h"
#include "tvm_pulp/plain/elementwise.h"

#define LOOP(LOAD, STEP, CLIP)                                                                   \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(LOAD, STEP, "%[x]") FOUR_FINISH(CLIP) XP_END \
                   : FOUR_OUTPUTS, [x] "+r"(x)                                                   \
                   : FOUR_INPUTS                                                                 \
                   : "memory")
#define LOOPS(CLIP)                          \
  if (p->x_type == TVM_PULP_INT8) {          \
    LOOP(XP_LB, 1, CLIP);                    \
  } else if (p->x_type == TVM_PULP_UINT8) {  \
    LOOP(XP_LBU, 1, CLIP);                   \
  } else {                                   \
    LOOP(XP_LW, 4, CLIP);                    \
  }

static __attribute__((noinline)) void requantize_piece(const struct tvm_pulp_requantize_args *p, const uint8_t *x,
                                                uint8_t *y, uint32_t count) {
  const struct tvm_pulp_requant *r = &p->requant;
  int32_t mul = r->mul[0];
  /* (x - zero_point) * mul + add; the result fits 32 bits, so intermediate ones may wrap. */
  int32_t add = tvm_pulp_xp_msu(r->add[0], p->zero_point, mul);
  FOUR_LOCALS;
  uint32_t n = count >> 2;
  if (n) {
    if (r->low == 0) {
      LOOPS(XP_CLIPUR)
    } else {
      LOOPS(XP_CLIPR)
    }
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = tvm_pulp_one(r, tvm_pulp_load(x, i, p->x_type), mul, add);
}

/* Four channels of some rows, whose summands and shifts, and multipliers where there are any, stay in registers. */
#define HIGH_WORDS \
  "mulh %[v1],%[v1],%[m1]\nmulh %[v2],%[v2],%[m2]\nmulh %[v3],%[v3],%[m3]\nmulh %[v0],%[v0],%[m0]\n"
#define MULTIPLIERS , [m0] "r"(mul[0]), [m1] "r"(mul[1]), [m2] "r"(mul[2]), [m3] "r"(mul[3])
#define SHIFT_LOOP(CLIP, PRODUCTS, FACTORS)                                                                                  \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "lw %[v1],4(%[x])\nlw %[v2],8(%[x])\nlw %[v3],12(%[x])\n"      \
                   XP_LWR("%[v0]", "%[xs]", "%[x]") PRODUCTS XP_ADDNR("%[v1]", "%[a1]", "%[s1]")           \
                   XP_ADDNR("%[v2]", "%[a2]", "%[s2]") XP_ADDNR("%[v3]", "%[a3]", "%[s3]")                 \
                   XP_ADDNR("%[v0]", "%[a0]", "%[s0]") FOUR(CLIP, "%[h]")                                  \
                   XP_PACKLO("%[v0]", "%[v1]", "%[v0]") XP_PACKHI("%[v0]", "%[v3]", "%[v2]") XP_LOOP_END   \
                   XP_SWR("%[v0]", "%[ys]", "%[y]") XP_END                                                 \
                   : [x] "+r"(x), [y] "+r"(y), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2), [v3] "=&r"(v3) \
                   : [n] "r"(rows), [xs] "r"(p->x_stride), [ys] "r"(p->y_stride), [h] "r"(r->high), [a0] "r"(add[0]), \
                     [a1] "r"(add[1]), [a2] "r"(add[2]), [a3] "r"(add[3]), [s0] "r"(shift[0]), [s1] "r"(shift[1]), \
                     [s2] "r"(shift[2]), [s3] "r"(shift[3]) FACTORS                                        \
                   : "memory")

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

/* Shares groups of four channels where there are enough of them, else lines or the rows of the only one. */
static void shift_share(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores) {
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

TVM_PULP_KERNEL(requantize) {
  uint32_t columns = args->columns, x_bytes = tvm_pulp_type_bytes(args->x_type);
  uint32_t y_bytes = tvm_pulp_result_bytes(&args->requant), four = tvm_pulp_is_four(&args->requant);
  uint32_t block = args->x_type == TVM_PULP_INT32 && args->zero_point == 0 && !args->per_row;
  const struct tvm_pulp_requant *r = &args->requant;
  uint32_t clips = !r->wide_result && (r->low == 0 || r->low == ~r->high);
  uint32_t shift = r->kind == TVM_PULP_REQUANT_SHIFT;
  if ((shift || r->kind == TVM_PULP_REQUANT_HALF_UP) && block && r->per_channel && clips && (columns & 3u) == 0u) {
    shift_share(args, core, cores);
    return;
  }
  if (shift || (!four && !block)) {
    tvm_pulp_plain_requantize(args, core, cores);
    return;
  }
  if (!four && args->requant.per_channel && columns >= cores) {
    /* Neighbouring cores take neighbouring columns, which lie in different banks. */
    const int32_t *x = (const int32_t *)args->x + core;
    tvm_pulp_requantize_columns(&args->requant, x, args->x_stride / 4u, args->rows, columns - core, cores, args->y,
                                args->y_stride, core);
    return;
  }
  uint32_t is_dense = args->x_stride == columns * x_bytes && args->y_stride == columns * y_bytes &&
                      !args->requant.per_channel;
  TVM_PULP_EACH_PIECE(args->rows, columns, is_dense, core, cores, {
    const uint8_t *x = (const uint8_t *)args->x + row * args->x_stride + column * x_bytes;
    uint8_t *y = (uint8_t *)args->y + row * args->y_stride;
    if (four) {
      requantize_piece(args, x, y + column, count);
    } else {
      tvm_pulp_requantize_row(&args->requant, (const int32_t *)(const void *)x, count, y, column);
    }
  });
}
