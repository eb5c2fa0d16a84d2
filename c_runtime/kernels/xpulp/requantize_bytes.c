/* SPDX-License-Identifier: Apache-2.0
 *
 * Four channels at a time keep their constants in registers while the rows go by. */
#include "requantize_bytes.h"

#include "tvm_pulp/placement.h"
#include "two_roundings.h"

/* Rows of four channels: elements of a row one after the other, the first one last, whose address moves on. */
#define BYTE(i) "lb " VALUE(i) "," #i "(%[x])\n"
#define UNSIGNED_BYTE(i) "lbu " VALUE(i) "," #i "(%[x])\n"
#define WORD(i) "lw " VALUE(i) ",4*" #i "(%[x])\n"
#define SCALED(i) "mul " VALUE(i) "," VALUE(i) ",%[m" #i "]\n"
#define SHIFTED(i) XP_ADDNR(VALUE(i), "%[a" #i "]", "%[sh]")
#define CHANNELS(LOAD, LOAD_NEXT, CLIP)                                                                        \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LOAD(1) LOAD(2) LOAD(3)                                            \
                   LOAD_NEXT("%[v0]", "%[xs]", "%[x]") EACH(SCALED) EACH(SHIFTED) FOUR(CLIP, "%[h]") STORE_ROW \
                   : COLUMN_OUTPUTS                                                                            \
                   : [n] "r"(rows), [xs] "r"(p->x_stride), [ys] "r"(p->y_stride), [l] "r"(r->low),             \
                     [h] "r"(r->high), [sh] "r"(r->shift), XP_FOUR_OF("r", m, mul), XP_FOUR("r", a)            \
                   : "memory")
/* Elements of one channel. */
#define LINE(LOAD, LOAD_NEXT, CLIP)                                                                  \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(LOAD_NEXT, 1, "%[x]") FOUR_FINISH(CLIP) XP_END \
                   : FOUR_OUTPUTS, [x] "+r"(x)                                                       \
                   : FOUR_INPUTS, [l] "r"(r->low)                                                    \
                   : "memory")
/* LOOP for the range of the results. */
#define BY_RANGE(LOOP, LOAD, LOAD_NEXT) \
  if (r->low == ~r->high) {             \
    LOOP(LOAD, LOAD_NEXT, XP_CLIPR);    \
  } else if (r->low == 0) {             \
    LOOP(LOAD, LOAD_NEXT, XP_CLIPUR);   \
  } else {                              \
    LOOP(LOAD, LOAD_NEXT, XP_BETWEEN);  \
  }

/* (x - zero_point) * mul + add; the result fits 32 bits, so intermediate ones may wrap. */
#define ROWS_OF_FOUR(LOOPS)                                                                                         \
  const struct tvm_pulp_requant *r = &p->requant;                                                                   \
  const int32_t *mul = r->mul + channel, *add = r->add + channel;                                                   \
  int32_t a0 = tvm_pulp_xp_msu(add[0], p->zero_point, mul[0]), a1 = tvm_pulp_xp_msu(add[1], p->zero_point, mul[1]); \
  int32_t a2 = tvm_pulp_xp_msu(add[2], p->zero_point, mul[2]), a3 = tvm_pulp_xp_msu(add[3], p->zero_point, mul[3]); \
  FOUR_LOCALS;                                                                                                      \
  LOOPS;

static void rows_of_four(const struct tvm_pulp_requantize_args *p, const uint8_t *x, uint8_t *y, uint32_t rows,
                         uint32_t channel) {
  ROWS_OF_FOUR(XP_BY_SIGN(p->x_type, BY_RANGE(CHANNELS, BYTE, XP_LBR), BY_RANGE(CHANNELS, UNSIGNED_BYTE, XP_LBUR)))
}

/* What engines that do not round leave; code that few networks run lies behind that of others. */
static TVM_PULP_LATER __attribute__((noinline)) void rows_of_words(const struct tvm_pulp_requantize_args *p,
                                                                   const uint8_t *x, uint8_t *y, uint32_t rows,
                                                                   uint32_t channel) {
  ROWS_OF_FOUR(BY_RANGE(CHANNELS, WORD, XP_LWR))
}

static void line_of_one(const struct tvm_pulp_requantize_args *p, const uint8_t *x, uint8_t *y, uint32_t count,
                        uint32_t channel) {
  const struct tvm_pulp_requant *r = &p->requant;
  int32_t mul = r->mul[channel], add = tvm_pulp_xp_msu(r->add[channel], p->zero_point, mul);
  FOUR_LOCALS;
  uint32_t n = count >> 2;
  if (n != 0u) XP_BY_SIGN(p->x_type, BY_RANGE(LINE, , XP_LB), BY_RANGE(LINE, , XP_LBU));
  for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = tvm_pulp_one(r, tvm_pulp_load(x, i, p->x_type), mul, add);
}

void tvm_pulp_requantize_bytes(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores) {
  uint32_t columns = p->columns;
  if (p->per_row) {
    TVM_PULP_EACH_PIECE(p->rows, columns, 0, core, cores, {
      line_of_one(p, (const uint8_t *)p->x + row * p->x_stride + column,
                  (uint8_t *)p->y + row * p->y_stride + column, count, row);
    });
    return;
  }
  uint32_t groups = (columns + 3u) >> 2, first = 0, step = 1;
  struct tvm_pulp_range range = {0, p->rows};
  if (p->rows >= 4u * cores) {
    range = tvm_pulp_share(p->rows, core, cores);
  } else {
    first = core;
    step = cores;
  }
  const uint32_t rows = range.end - range.begin;
  const uint8_t *x = (const uint8_t *)p->x + range.begin * p->x_stride;
  uint8_t *y = (uint8_t *)p->y + range.begin * p->y_stride;
  for (; first < groups; first += step) {
    /* The last four reach back. */
    uint32_t channel = 4u * first + 4u > columns ? columns - 4u : 4u * first;
    if (p->x_type == TVM_PULP_INT32) {
      rows_of_words(p, x + 4u * channel, y + channel, rows, channel);
    } else {
      rows_of_four(p, x + channel, y + channel, rows, channel);
    }
  }
}
