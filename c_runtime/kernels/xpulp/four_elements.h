/* SPDX-License-Identifier: Apache-2.0
 *
 * Element-wise loops that make four results an iteration and store them as one word. This header holds what they share:
 * the tail (requantization in the narrow PULP form, packing, the store) and the walk over rows. */
#ifndef TVM_PULP_FOUR_ELEMENTS_H
#define TVM_PULP_FOUR_ELEMENTS_H

#include <stdint.h>

#include "tvm_pulp/elements.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

/* Whether one instruction clips to the range of the results. */
TVM_PULP_INLINE uint32_t tvm_pulp_is_one_clip(const struct tvm_pulp_requant *r) {
  return r->low == 0 || r->low == ~r->high;
}

/* Requantization that the loops can do: narrow PULP form, one constant for all, a range that one instruction clips. */
TVM_PULP_INLINE uint32_t tvm_pulp_is_four(const struct tvm_pulp_requant *r) {
  return r->kind == TVM_PULP_REQUANT_PULP_NARROW && !r->wide_result && !r->per_channel && tvm_pulp_is_one_clip(r);
}

/* A value by its number. A loop that has more operands than GNU's compiler takes defines it before, with registers of
 * their own for some. */
#ifndef VALUE
#define VALUE(i) "%[v" #i "]"
#endif

/* The values %[v0] .. %[v3] to bytes at %[y]; operands m, a, sh, h are multiplier, summand, shift, upper limit. */
#define FOUR_MUL(by) \
  "mul %[v0],%[v0]," by "\nmul %[v1],%[v1]," by "\nmul %[v2],%[v2]," by "\nmul %[v3],%[v3]," by "\n"
#define FOUR(OP, ...)                                                                                   \
  OP("%[v0]", "%[v0]", __VA_ARGS__) OP("%[v1]", "%[v1]", __VA_ARGS__) OP("%[v2]", "%[v2]", __VA_ARGS__) \
  OP("%[v3]", "%[v3]", __VA_ARGS__)
#define FOUR_ADD                                                                                           \
  XP_ADDNR("%[v0]", "%[a]", "%[sh]") XP_ADDNR("%[v1]", "%[a]", "%[sh]") XP_ADDNR("%[v2]", "%[a]", "%[sh]") \
  XP_ADDNR("%[v3]", "%[a]", "%[sh]")
/* The same with the seconds added before, of which %[mb] is the multiplier. */
#define FOUR_MORE(v, w) XP_MAC(v, w, "%[mb]")
#define FOUR_SUMS FOUR_MUL("%[m]") FOUR_EACH(FOUR_MORE) FOUR_ADD
#define FOUR_PACK XP_PACKLO(VALUE(0), VALUE(1), VALUE(0)) XP_PACKHI(VALUE(0), VALUE(3), VALUE(2))
#define FOUR_STORE FOUR_PACK XP_LOOP_END XP_SW("%[v0]", 4, "%[y]")

/* To a range that no single instruction clips, from %[l] on. */
#define XP_BETWEEN(rd, a, high) XP_MAX(rd, a, "%[l]") XP_MIN(rd, rd, high)

#define FOUR_FINISH(CLIP) FOUR_MUL("%[m]") FOUR_ADD FOUR(CLIP, "%[h]") FOUR_STORE
#define FOUR_LOAD(LOAD, step, p) \
  LOAD("%[v0]", step, p) LOAD("%[v1]", step, p) LOAD("%[v2]", step, p) LOAD("%[v3]", step, p)

/* An operation on each value, with a second register for each. */
#define FOUR_EACH(OP) OP("%[v0]", "%[w0]") OP("%[v1]", "%[w1]") OP("%[v2]", "%[w2]") OP("%[v3]", "%[w3]")

/* Bytes at %[pa] to the values, those at %[pb] to %[w0] .. %[w3]. */
#define FOUR_PAIRS(LOAD_A, LOAD_B)                                                                                \
  LOAD_A("%[v0]", 1, "%[pa]") LOAD_B("%[w0]", 1, "%[pb]") LOAD_A("%[v1]", 1, "%[pa]") LOAD_B("%[w1]", 1, "%[pb]") \
  LOAD_A("%[v2]", 1, "%[pa]") LOAD_B("%[w2]", 1, "%[pb]") LOAD_A("%[v3]", 1, "%[pa]") LOAD_B("%[w3]", 1, "%[pb]")

#define FOUR_VALUES XP_FOUR("=&r", v)
#define FOUR_SECONDS XP_FOUR("=&r", w)
#define FOUR_OUTPUTS [y] "+r"(y), FOUR_VALUES
#define FOUR_INPUTS [n] "r"(n), [m] "r"(mul), [a] "r"(add), [sh] "r"(r->shift), [h] "r"(r->high)
#define FOUR_LOCALS int32_t v0, v1, v2, v3

/* The share of this core, as pieces of rows: `statement` runs with row, column and count set. Tensors without gaps are
 * one long row. The last statement of a kernel. */
#define TVM_PULP_EACH_PIECE(rows_, columns_, is_dense_, core_, cores_, statement)          \
  do {                                                                                     \
    uint32_t length_ = columns_;                                                           \
    struct tvm_pulp_range range_ = tvm_pulp_share_words((rows_) * length_, core_, cores_); \
    uint32_t left_ = range_.end - range_.begin, row = 0, column = range_.begin;            \
    if (is_dense_) {                                                                       \
      uint32_t count = left_;                                                              \
      if (count > 0u) statement;                                                           \
      return;                                                                              \
    }                                                                                      \
    if (column >= length_) {                                                               \
      row = column / length_;                                                              \
      column -= row * length_;                                                             \
    }                                                                                      \
    while (left_ > 0u) {                                                                   \
      uint32_t count = length_ - column < left_ ? length_ - column : left_;                \
      statement;                                                                           \
      left_ -= count;                                                                      \
      column = 0;                                                                          \
      ++row;                                                                               \
    }                                                                                      \
  } while (0)

/* A loop for results from 0 on, or that for those around 0. */
#define FOUR_BY_RANGE(r, from_zero, around_zero) \
  do {                                           \
    if ((r)->low == 0) {                         \
      from_zero;                                 \
    } else {                                     \
      around_zero;                               \
    }                                            \
  } while (0)

/* LOOP(load, clip) for the type of the input and the range of the result, where there are four elements. */
#define FOUR_BY_TYPE(LOOP, type)                                                                    \
  if (n != 0u)                                                                                      \
  XP_BY_SIGN(type, FOUR_BY_RANGE(r, LOOP(XP_LB, XP_CLIPUR), LOOP(XP_LB, XP_CLIPR)),                 \
             FOUR_BY_RANGE(r, LOOP(XP_LBU, XP_CLIPUR), LOOP(XP_LBU, XP_CLIPR)))

/* All pieces of a kernel from x to y; the last statement of a kernel. */
#define FOUR_EACH_PIECE(piece)                                                                                    \
  uint32_t columns = args->columns;                                                                               \
  TVM_PULP_EACH_PIECE(args->rows, columns, args->x_stride == columns && args->y_stride == columns, core, cores, { \
    const uint8_t *x = (const uint8_t *)args->x + row * args->x_stride + column;                                  \
    piece(args, x, (uint8_t *)args->y + row * args->y_stride + column, count);                                    \
  })

/* The same from a and b. */
#define FOUR_EACH_PAIR(piece, is_dense)                                              \
  TVM_PULP_EACH_PIECE(args->rows, columns, is_dense, core, cores, {                  \
    const uint8_t *a = (const uint8_t *)args->a + row * args->a_stride + column;     \
    const uint8_t *b = (const uint8_t *)args->b + row * args->b_stride + column;     \
    piece(args, a, b, (uint8_t *)args->y + row * args->y_stride + column, count);    \
  })
/* Rows of all three follow each other without a gap. */
#define FOUR_ARE_DENSE (args->a_stride == columns && args->b_stride == columns && args->y_stride == columns)

/* One result where fewer than four are left. */
TVM_PULP_INLINE uint8_t tvm_pulp_one(const struct tvm_pulp_requant *r, int32_t value, int32_t mul, int32_t add) {
  int32_t scaled = tvm_pulp_xp_add_shift((int32_t)((uint32_t)value * (uint32_t)mul), add, r->shift);
  return (uint8_t)tvm_pulp_xp_min(tvm_pulp_xp_max(scaled, r->low), r->high);
}

#endif /* TVM_PULP_FOUR_ELEMENTS_H */
