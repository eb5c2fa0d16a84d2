/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums by dot products, then one pass over the row. The usual sequences of stages have loops of their own. */
#include "norm_row.h"
#include "tvm_pulp/plain/qdq_norm.h"

/* A piece of a row: `a` is multiplier * x + offset. */
struct piece {
  const uint8_t *x;
  uint8_t *y;
  uint32_t column, count;
  int32_t multiplier, offset;
  float factor;
};

/* What is done with an element: v an integer register, f and g float registers, i its place among four. */
#define EACH(OP) \
  OP("%[v0]", "ft0", "ft4", "0") OP("%[v1]", "ft1", "ft5", "4") OP("%[v2]", "ft2", "ft6", "8") \
  OP("%[v3]", "ft3", "ft7", "12")
#define LOADS(LOAD) LOAD("%[v0]", 1, "%[x]") LOAD("%[v1]", 1, "%[x]") LOAD("%[v2]", 1, "%[x]") LOAD("%[v3]", 1, "%[x]")
#define START(v, f, g, i) \
  "mul " v "," v ",%[m]\nadd " v "," v ",%[o]\nfcvt.s.w " f "," v "\nfmul.s " f "," f ",%[k]\n"
#define NEAREST(v, f, low, high) "fcvt.w.s " v "," f ",rne\n" XP_MAX(v, v, low) XP_MIN(v, v, high)
#define ROUND0(v, f, g, i) NEAREST(v, f, "%[l0]", "%[h0]") "fcvt.s.w " f "," v "\n"
#define ROUND1(v, f, g, i) NEAREST(v, f, "%[l1]", "%[h1]") "fcvt.s.w " f "," v "\n"
#define RESULT(v, f, g, i) NEAREST(v, f, "%[l]", "%[h]")
#define LOAD_WEIGHT(v, f, g, i) "flw " g "," i "(%[w])\n"
#define LOAD_WEIGHT1(v, f, g, i) "flw " g "," i "(%[w1])\n"
#define LOAD_BIAS(v, f, g, i) "flw " g "," i "(%[b])\n"
#define MULTIPLY(v, f, g, i) "fmul.s " f "," f "," g "\n"
#define ADD(v, f, g, i) "fadd.s " f "," f "," g "\n"
#define STORE                                                                          \
  XP_PACKLO("%[v0]", "%[v1]", "%[v0]") XP_PACKHI("%[v0]", "%[v3]", "%[v2]") "addi %[w],%[w],16\n" \
  "addi %[b],%[b],16\naddi %[w1],%[w1],16\n" XP_ADD4("%[v0]", "%[v0]", "%[z]") XP_LOOP_END XP_SW("%[v0]", 4, "%[y]")
#define LOOP(LOAD, BODY)                                                                                      \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LOADS(LOAD) EACH(START) BODY EACH(RESULT) STORE XP_END             \
                   : [x] "+r"(x), [y] "+r"(y), [w] "+r"(weight), [b] "+r"(bias), [w1] "+r"(weight1), [v0] "=&r"(v0), \
                     [v1] "=&r"(v1), [v2] "=&r"(v2), [v3] "=&r"(v3)                                            \
                   : [n] "r"(n), [m] "r"(p->multiplier), [o] "r"(p->offset), [k] "f"(p->factor),               \
                     [l] "r"(args->low), [h] "r"(args->high), [z] "r"(zeros), [l0] "r"(args->low0),            \
                     [h0] "r"(args->high0), [l1] "r"(args->low1), [h1] "r"(args->high1)                        \
                   : "memory", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7")
#define STAGE EACH(LOAD_WEIGHT) EACH(MULTIPLY)
#define BIAS EACH(LOAD_BIAS) EACH(ADD)
/* Four elements at a time; returns how many were done. */
#define PIECE(name, BODY)                                                                                     \
  static __attribute__((noinline)) uint32_t name(const struct tvm_pulp_qdq_norm_args *args, const struct piece *p) { \
    const uint8_t *x = p->x;                                                                                  \
    uint8_t *y = p->y;                                                                                        \
    uintptr_t weight = (uintptr_t)(args->weight0 + p->column), weight1 = (uintptr_t)(args->weight1 + p->column); \
    uintptr_t bias = (uintptr_t)((args->stages > 1u ? args->bias1 : args->bias0) + p->column);                \
    int32_t v0, v1, v2, v3, zeros = (int32_t)((uint32_t)(args->zero_point & 0xff) * 0x01010101u);             \
    uint32_t n = p->count >> 2;                                                                               \
    if (args->x_type == TVM_PULP_INT8) {                                                                      \
      LOOP(XP_LB, BODY);                                                                                      \
    } else {                                                                                                  \
      LOOP(XP_LBU, BODY);                                                                                     \
    }                                                                                                         \
    return n << 2;                                                                                            \
  }
PIECE(biased, STAGE BIAS)
PIECE(weighted, STAGE)
PIECE(rounded, EACH(ROUND0) STAGE)
/* Weights and a sum, everything quantized in between. */
PIECE(two_rounded_stages, EACH(ROUND0) STAGE EACH(ROUND1) EACH(LOAD_WEIGHT1) EACH(MULTIPLY) BIAS)

/* A few elements of the only row, one at a time: the loop is a quarter as long, and its code is fetched for them alone. */
#define FEW 32u
#define ONE(OP) OP("%[v]", "ft0", "ft1", "0")
#define ONE_LOOP(LOAD, LOADS_BIAS, ROUND, SUM)                                                                \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LOAD("%[v]", 1, "%[x]") "flw ft1,0(%[w])\n" LOADS_BIAS            \
                   "addi %[w],%[w],4\n" ONE(START) ROUND ONE(MULTIPLY) SUM ONE(RESULT) "add %[v],%[v],%[z]\n" \
                   XP_LOOP_END XP_SB("%[v]", 1, "%[y]") XP_END                                                \
                   : [x] "+r"(x), [y] "+r"(y), [w] "+r"(weight), [b] "+r"(bias), [v] "=&r"(v)                 \
                   : [n] "r"(p->count), [m] "r"(p->multiplier), [o] "r"(p->offset), [k] "f"(p->factor),       \
                     [l] "r"(args->low), [h] "r"(args->high), [z] "r"(args->zero_point), [l0] "r"(args->low0), \
                     [h0] "r"(args->high0)                                                                    \
                   : "memory", "ft0", "ft1", "ft2")
#define FEW_ELEMENTS(name, LOADS_BIAS, ROUND, SUM)                                                            \
  static __attribute__((noinline)) uint32_t name(const struct tvm_pulp_qdq_norm_args *args, const struct piece *p) { \
    const uint8_t *x = p->x;                                                                                  \
    uint8_t *y = p->y;                                                                                        \
    uintptr_t weight = (uintptr_t)(args->weight0 + p->column), bias = (uintptr_t)(args->bias0 + p->column);   \
    int32_t v;                                                                                                \
    if (args->x_type == TVM_PULP_INT8) {                                                                      \
      ONE_LOOP(XP_LB, LOADS_BIAS, ROUND, SUM);                                                                \
    } else {                                                                                                  \
      ONE_LOOP(XP_LBU, LOADS_BIAS, ROUND, SUM);                                                               \
    }                                                                                                         \
    return p->count;                                                                                          \
  }
FEW_ELEMENTS(few_biased, "flw ft2,0(%[b])\naddi %[b],%[b],4\n", , "fadd.s ft0,ft0,ft2\n")
FEW_ELEMENTS(few_weighted, , , )
FEW_ELEMENTS(few_rounded, , ONE(ROUND0), )

/* The usual sequences of stages have loops of their own; returns how many elements were done. */
static uint32_t fours(const struct tvm_pulp_qdq_norm_args *args, const struct piece *p) {
  if (args->rows == 1u && args->stages == 1u && p->count <= FEW && !(args->rounds && args->bias0)) {
    if (args->rounds) return few_rounded(args, p);
    return args->bias0 ? few_biased(args, p) : few_weighted(args, p);
  }
  if (p->count < 4u) return 0;
  if (args->stages == 1u && !args->rounds) return args->bias0 ? biased(args, p) : weighted(args, p);
  if (args->stages == 1u && !args->bias0) return rounded(args, p);
  if (args->stages == 2u && args->rounds == 3u && !args->bias0 && args->bias1) return two_rounded_stages(args, p);
  return 0;
}

static void scale_piece(const struct tvm_pulp_qdq_norm_args *args, const struct piece *p) {
  for (uint32_t i = fours(args, p); i < p->count; ++i) {
    int32_t x = tvm_pulp_load(p->x, i, args->x_type);
    float v = (float)(x * p->multiplier + p->offset) * p->factor;
    p->y[i] = (uint8_t)tvm_pulp_qdq_norm_value(args, v, p->column + i);
  }
}

/* Whole rows where every core has as many, or nearly so. */
static struct tvm_pulp_row_walk walk(uint32_t rows, uint32_t columns, uint32_t core, uint32_t cores) {
  struct tvm_pulp_row_walk w = tvm_pulp_walk_rows(rows, columns, core, cores);
  struct tvm_pulp_range whole = tvm_pulp_share(rows, 0, cores);
  if (!w.whole || whole.end * cores - rows < whole.end || whole.end > 8u) return w;
  struct tvm_pulp_range range = tvm_pulp_share_words(rows * columns, core, cores);
  w.whole = 0;
  w.left = range.end - range.begin;
  w.row = range.begin / columns;
  w.column = range.begin - w.row * columns;
  return w;
}

/* `count` elements of a row from a column on. */
static __attribute__((noinline)) void piece_of_row(const struct tvm_pulp_qdq_norm_args *args, uint32_t row,
                                                   uint32_t column, uint32_t count) {
  const uint32_t columns = args->columns, at = row * columns;
  const uint8_t *x = args->x + at;
  struct piece p = {x + column, args->y + at + column, column, count, args->centred ? (int32_t)columns : 1, 0, 0.0f};
  int32_t total;
  uint32_t squares = args->x_type == TVM_PULP_INT8 ? tvm_pulp_sums_signed((const int8_t *)x, columns, &total)
                                                   : tvm_pulp_sums_unsigned(x, columns, &total);
  p.factor = tvm_pulp_qdq_norm_factor(args, total, squares);
  p.offset = args->centred ? -total : -args->zero_point_x;
  scale_piece(args, &p);
}

static __attribute__((noinline)) void some_rows(const struct tvm_pulp_qdq_norm_args *args, uint32_t core,
                                                uint32_t cores) {
  struct tvm_pulp_row_walk w = walk(args->rows, args->columns, core, cores);
  for (; tvm_pulp_next_piece(&w); tvm_pulp_walk_on(&w)) piece_of_row(args, w.row, w.column, w.count);
}

/* One row needs little code, and fetching code is most of what it takes. */
TVM_PULP_KERNEL(qdq_norm) {
  if (args->rows != 1u) {
    some_rows(args, core, cores);
    return;
  }
  struct tvm_pulp_range range = tvm_pulp_share_words(args->columns, core, cores);
  if (range.begin < range.end) piece_of_row(args, 0, range.begin, range.end - range.begin);
}
