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
  FOUR_PACK "addi %[w],%[w],16\naddi %[b],%[b],16\naddi %[w1],%[w1],16\n"                          \
  XP_ADD4("%[v0]", "%[v0]", "%[z]") XP_LOOP_END XP_SW("%[v0]", 4, "%[y]")
#define LOOP(LOAD, BODY)                                                                                      \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(LOAD, 1, "%[x]") EACH(START) BODY EACH(RESULT) STORE XP_END \
                   : [x] "+r"(x), [y] "+r"(y), [w] "+r"(weight), [b] "+r"(bias), [w1] "+r"(weight1), FOUR_VALUES \
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
    XP_BY_SIGN(args->x_type, LOOP(XP_LB, BODY), LOOP(XP_LBU, BODY));                                          \
    return n << 2;                                                                                            \
  }
PIECE(biased, STAGE BIAS)
PIECE(weighted, STAGE)
PIECE(rounded, EACH(ROUND0) STAGE)
/* Weights and a sum, everything quantized in between. */
PIECE(two_rounded_stages, EACH(ROUND0) STAGE EACH(ROUND1) EACH(LOAD_WEIGHT1) EACH(MULTIPLY) BIAS)

/* Eight elements at a time, results of 16 bits. Cores n and n + 4 share a float unit: where it can be had every second
 * instruction leaves it to the other one. */
#define FROM(f, v) "fcvt.s.w " f "," v "\n"
#define TIMES(f, k) "fmul.s " f "," f "," k "\n"
#define PLUS(f, b) "fadd.s " f "," f "," b "\n"
#define NO_PLUS(f, b)
#define TO(v, f) "fcvt.w.s " v "," f ",rne\n"
#define FLW(f, at, p) "flw " f "," at "(" p ")\n"
#define NO_FLW(f, at, p)
#define SCALED(v) "mul " v "," v ",%[m]\n"
#define MOVED(v) "add " v "," v ",%[o]\n"
#define MAX2(a) XP_R(0x57, 0, 0x18, a, a, "%[l]")
#define MIN2(a) XP_R(0x57, 0, 0x10, a, a, "%[h]")
#define EIGHT(LOAD, LOAD_BIAS, SUM)                                                                                  \
  __asm__ volatile(                                                                                                  \
      XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(LOAD, 1, "%[x]") SCALED("%[v0]") SCALED("%[v1]") SCALED("%[v2]")            \
      SCALED("%[v3]") MOVED("%[v0]") MOVED("%[v1]") MOVED("%[v2]") MOVED("%[v3]")                                    \
      FROM("ft0", "%[v0]") FLW("fa0", "0", "%[w]")                                                                   \
      FROM("ft1", "%[v1]") FLW("fa1", "4", "%[w]") FROM("ft2", "%[v2]") FLW("fa2", "8", "%[w]")                      \
      FROM("ft3", "%[v3]") FLW("fa3", "12", "%[w]") TIMES("ft0", "%[k]") LOAD_BIAS("fa4", "0", "%[b]")               \
      TIMES("ft1", "%[k]") LOAD_BIAS("fa5", "4", "%[b]") TIMES("ft2", "%[k]") LOAD_BIAS("fa6", "8", "%[b]")          \
      TIMES("ft3", "%[k]") LOAD_BIAS("fa7", "12", "%[b]") TIMES("ft0", "fa0") LOAD("%[u0]", 1, "%[x]")               \
      TIMES("ft1", "fa1") LOAD("%[u1]", 1, "%[x]") TIMES("ft2", "fa2") LOAD("%[u2]", 1, "%[x]") TIMES("ft3", "fa3")  \
      LOAD("%[u3]", 1, "%[x]") SUM("ft0", "fa4") SCALED("%[u0]") SUM("ft1", "fa5") SCALED("%[u1]")                   \
      SUM("ft2", "fa6") SCALED("%[u2]") SUM("ft3", "fa7") SCALED("%[u3]") TO("%[v0]", "ft0") MOVED("%[u0]")          \
      TO("%[v1]", "ft1") MOVED("%[u1]") TO("%[v2]", "ft2") MOVED("%[u2]") TO("%[v3]", "ft3") MOVED("%[u3]")          \
      FROM("ft4", "%[u0]") FLW("fa0", "16", "%[w]") FROM("ft5", "%[u1]") FLW("fa1", "20", "%[w]")                    \
      FROM("ft6", "%[u2]") FLW("fa2", "24", "%[w]") FROM("ft7", "%[u3]") FLW("fa3", "28", "%[w]")                    \
      TIMES("ft4", "%[k]") LOAD_BIAS("fa4", "16", "%[b]") TIMES("ft5", "%[k]") LOAD_BIAS("fa5", "20", "%[b]")        \
      TIMES("ft6", "%[k]") LOAD_BIAS("fa6", "24", "%[b]") TIMES("ft7", "%[k]") LOAD_BIAS("fa7", "28", "%[b]")        \
      TIMES("ft4", "fa0") XP_PACK_H("%[v0]", "%[v1]", "%[v0]") TIMES("ft5", "fa1")                                   \
      XP_PACK_H("%[v2]", "%[v3]", "%[v2]") TIMES("ft6", "fa2") MAX2("%[v0]") TIMES("ft7", "fa3") MAX2("%[v2]")       \
      SUM("ft4", "fa4") MIN2("%[v0]") SUM("ft5", "fa5") MIN2("%[v2]") SUM("ft6", "fa6")                              \
      XP_SHUFFLE2_B("%[v0]", "%[v2]", "%[c]") SUM("ft7", "fa7") XP_ADD4("%[v0]", "%[v0]", "%[z]")                    \
      TO("%[u0]", "ft4") XP_SW("%[v0]", 4, "%[y]") TO("%[u1]", "ft5") "addi %[w],%[w],32\n" TO("%[u2]", "ft6")       \
      "addi %[b],%[b],32\n" TO("%[u3]", "ft7") XP_PACK_H("%[u0]", "%[u1]", "%[u0]")                                  \
      XP_PACK_H("%[u2]", "%[u3]", "%[u2]") MAX2("%[u0]") MAX2("%[u2]") MIN2("%[u0]") MIN2("%[u2]")                   \
      XP_SHUFFLE2_B("%[u0]", "%[u2]", "%[c]") XP_ADD4("%[u0]", "%[u0]", "%[z]") XP_LOOP_END                          \
      XP_SW("%[u0]", 4, "%[y]") XP_END                                                                               \
      : [x] "+r"(x), [y] "+r"(y), [w] "+r"(weight), [b] "+r"(bias), FOUR_VALUES, XP_FOUR("=&r", u)                   \
      : [n] "r"(n), [m] "r"(p->multiplier), [o] "r"(p->offset), [k] "f"(p->factor), [l] "r"(low), [h] "r"(high),     \
        [z] "r"(zeros), [c] "r"(0x06040200)                                                                          \
      : "memory", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",  \
        "fa6", "fa7")
#define HALVES(value) ((int32_t)((uint32_t)((value)&0xffff) * 0x10001u))
/* Pieces one after the other; the end of one that is not a multiple of eight is `rest`'s. */
#define EIGHTS(name, LOAD_BIAS, SUM)                                                                                 \
  static __attribute__((noinline)) void name(const struct tvm_pulp_qdq_norm_args *args, struct piece *p,             \
                                             uint32_t pieces) {                                                      \
    const int32_t zeros = (int32_t)((uint32_t)(args->zero_point & 0xff) * 0x01010101u);                              \
    const int32_t low = HALVES(args->low), high = HALVES(args->high);                                                \
    for (; pieces > 0u; --pieces, ++p) {                                                                             \
      const uint8_t *x = p->x;                                                                                       \
      uint8_t *y = p->y;                                                                                             \
      uintptr_t weight = (uintptr_t)(args->weight0 + p->column), bias = (uintptr_t)(args->bias0 + p->column);        \
      int32_t v0, v1, v2, v3, u0, u1, u2, u3;                                                                        \
      uint32_t n = p->count >> 3;                                                                                    \
      if (n == 0u) continue;                                                                                         \
      XP_BY_SIGN(args->x_type, EIGHT(XP_LB, LOAD_BIAS, SUM), EIGHT(XP_LBU, LOAD_BIAS, SUM));                         \
      p->x = x;                                                                                                      \
      p->y = y;                                                                                                      \
      p->column += 8u * n;                                                                                           \
      p->count -= 8u * n;                                                                                            \
    }                                                                                                                \
  }
EIGHTS(eight_biased, FLW, PLUS)
EIGHTS(eight_weighted, NO_FLW, NO_PLUS)

#include "norm_pairs.h"
PAIRS(pairs_biased, FLW, PLUS)
PAIRS(pairs_weighted, NO_FLW, NO_PLUS)

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
    XP_BY_SIGN(args->x_type, ONE_LOOP(XP_LB, LOADS_BIAS, ROUND, SUM), ONE_LOOP(XP_LBU, LOADS_BIAS, ROUND, SUM)); \
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
  /* In eights, so that the loop over eight elements leaves little to others. */
  const uint32_t elements = rows * columns;
  struct tvm_pulp_range range = tvm_pulp_share((elements + 7u) >> 3, core, cores);
  const uint32_t end = 8u * range.end < elements ? 8u * range.end : elements;
  /* The last eight may be short, and a core without any begins behind it. */
  const uint32_t begin = 8u * range.begin < end ? 8u * range.begin : end;
  w.whole = 0;
  w.left = end - begin;
  w.row = begin / columns;
  w.column = begin - w.row * columns;
  return w;
}

/* `count` elements of a row from a column on. */
TVM_PULP_XP void start_piece(const struct tvm_pulp_qdq_norm_args *args, uint32_t row, uint32_t column, uint32_t count,
                               struct piece *p) {
  const uint32_t columns = args->columns, at = row * columns;
  const uint8_t *x = args->x + at;
  int32_t total;
  uint32_t squares = tvm_pulp_row_sums(x, args->x_type, columns, &total);
  p->x = x + column;
  p->y = args->y + at + column;
  p->column = column;
  p->count = count;
  p->multiplier = args->centred ? (int32_t)columns : 1;
  p->offset = args->centred ? -total : -args->zero_point_x;
  p->factor = tvm_pulp_qdq_norm_factor(args, total, squares);
}

/* Pieces are started together, so that each loop's code stays in the private cache. */
enum { BATCH = 8, LEAST_PAIRED = 4 };

static __attribute__((noinline)) void some_rows(const struct tvm_pulp_qdq_norm_args *args, uint32_t core,
                                                uint32_t cores) {
  struct piece pieces[BATCH];
  struct tvm_pulp_row_walk w = walk(args->rows, args->columns, core, cores);
  for (uint32_t count = BATCH; count == BATCH;) {
    for (count = 0; count < BATCH && tvm_pulp_next_piece(&w); tvm_pulp_walk_on(&w)) {
      start_piece(args, w.row, w.column, w.count, &pieces[count++]);
    }
    if (args->narrow) {
      /* A pair alone does not repay the longer loop's code; a row left over, and parts of rows, which are seldom alike,
       * would fetch both loops. */
      uint32_t done = 0;
      if (w.whole && count >= LEAST_PAIRED && count % 2u == 0u && are_pair(pieces, count)) {
        done = args->bias0 ? pairs_biased(args, pieces, count) : pairs_weighted(args, pieces, count);
      }
      if (done == count) {
        /* nothing is left for the other loop */
      } else if (args->bias0) {
        eight_biased(args, pieces + done, count - done);
      } else {
        eight_weighted(args, pieces + done, count - done);
      }
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (pieces[i].count) scale_piece(args, &pieces[i]);
    }
  }
}

/* One row needs little code, and fetching code is most of what it takes. */
TVM_PULP_KERNEL(qdq_norm) {
  if (args->rows != 1u) {
    some_rows(args, core, cores);
    return;
  }
  struct tvm_pulp_range range = tvm_pulp_share_words(args->columns, core, cores);
  if (range.begin == range.end) return;
  struct piece p;
  start_piece(args, 0, range.begin, range.end - range.begin, &p);
  scale_piece(args, &p);
}
