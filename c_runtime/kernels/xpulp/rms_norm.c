/* SPDX-License-Identifier: Apache-2.0
 *
 * With at least as many rows as cores, rows are shared. Else every row is shared, its root made by all who need it, and
 * the code that runs is small: it is cold. */
#include "norm_real.h"

#define LOOP(LOAD)                                                                                               \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") NORM_LOADS(LOAD) NORM_FOUR_DIVIDED FOUR_EACH(NORM_SCALED)            \
                       FOUR_EACH(NORM_CLIPPED) FOUR_STORE XP_END                                                 \
                   : [x] "+r"(x), [w] "+r"(weight), [y] "+r"(y), FOUR_VALUES, FOUR_SECONDS                       \
                   : [n] "r"(n), [c] "r"(r.correction), [m] "r"(r.multiplier), [j] "r"(r.shift), [h] "r"(high)   \
                   : "memory")

/* The same for one element at a time. */
#define SMALL_LOOP(LOAD)                                                                                           \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LOAD("%[v0]", 1, "%[x]") XP_LW("%[w0]", 4, "%[w]") "nop\n"             \
                       NORM_VALUE("%[v0]", "%[w0]") NORM_SIGN("%[v0]", "%[w0]") NORM_SHIFTED("%[v0]", "%[w0]")     \
                       NORM_DIVIDED("%[v0]", "%[w0]") NORM_SCALED("%[v0]", "%[w0]") NORM_CLIPPED("%[v0]", "%[w0]") \
                       XP_LOOP_END XP_SB("%[v0]", 1, "%[y]") XP_END                                                \
                   : [x] "+r"(x), [w] "+r"(weight), [y] "+r"(y), [v0] "=&r"(v0), [w0] "=&r"(w0)                    \
                   : [n] "r"(n), [c] "r"(r.correction), [m] "r"(r.multiplier), [j] "r"(r.shift), [h] "r"(high)     \
                   : "memory")

/* Elements [column, column + n) of a row; and the shares of few rows. One row, a token, is the usual case. */
#define FEW_ROWS(PLACE, name, type, SUMS, LOAD)                                                               \
  static inline __attribute__((always_inline)) void name##_piece(                                             \
      const struct tvm_pulp_rms_norm_args *args, const type *x, uint32_t column, uint32_t n, type *y) {       \
    uint32_t columns = args->columns;                                                                         \
    struct tvm_pulp_root r = tvm_pulp_root_of(tvm_pulp_mean(SUMS(x, columns, 0), columns) + 1u, args->shift); \
    const int32_t *weight = args->double_weight + column;                                                     \
    int32_t high = (int32_t)(args->levels / 2u - 1u), v0, w0;                                                 \
    x += column;                                                                                              \
    SMALL_LOOP(LOAD);                                                                                         \
  }                                                                                                           \
  static PLACE void name##_row(const struct tvm_pulp_rms_norm_args *args, uint32_t core, uint32_t cores) {    \
    struct tvm_pulp_range range = tvm_pulp_share_words(args->columns, core, cores);                           \
    if (range.begin == range.end) return;                                                                     \
    type *y = (type *)args->y + range.begin;                                                                  \
    name##_piece(args, (const type *)args->x, range.begin, range.end - range.begin, y);                       \
  }                                                                                                           \
  static __attribute__((noinline)) void name##_rows(const struct tvm_pulp_rms_norm_args *args, uint32_t core, \
                                                    uint32_t cores) {                                         \
    uint32_t columns = args->columns;                                                                         \
    struct tvm_pulp_range range = tvm_pulp_share_words(args->rows * columns, core, cores);                    \
    uint32_t left = range.end - range.begin, row = range.begin / columns;                                     \
    uint32_t column = range.begin - row * columns;                                                            \
    for (; left > 0u; ++row, column = 0) {                                                                    \
      uint32_t n = columns - column < left ? columns - column : left;                                         \
      type *y = (type *)args->y + row * columns + column;                                                     \
      name##_piece(args, (const type *)args->x + row * columns, column, n, y);                                \
      left -= n;                                                                                              \
    }                                                                                                         \
  }
/* One signed row is the usual case. */
FEW_ROWS(TVM_PULP_CLOSE, signed, int8_t, tvm_pulp_sums_signed, XP_LB)
FEW_ROWS(__attribute__((noinline)), unsigned, uint8_t, tvm_pulp_sums_unsigned, XP_LBU)

static inline void scale_row(const struct tvm_pulp_rms_norm_args *args, const uint8_t *x, uint8_t *y,
                             uint32_t squares) {
  struct tvm_pulp_root r = tvm_pulp_root_of(tvm_pulp_mean(squares, args->columns) + 1u, args->shift);
  const int32_t *weight = args->double_weight;
  int32_t high = (int32_t)(args->levels / 2u - 1u), v0, v1, v2, v3, w0, w1, w2, w3;
  uint32_t n = args->columns >> 2;
  if (n) {
    XP_BY_SIGN(args->x_type, LOOP(XP_LB), LOOP(XP_LBU));
  }
  n = args->columns & 3u;
  if (n) {
    XP_BY_SIGN(args->x_type, SMALL_LOOP(XP_LB), SMALL_LOOP(XP_LBU));
  }
}

static __attribute__((noinline)) void many_rows(const struct tvm_pulp_rms_norm_args *args, uint32_t core,
                                                uint32_t cores) {
  uint32_t columns = args->columns;
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  const uint8_t *x = (const uint8_t *)args->x + range.begin * columns;
  uint8_t *y = (uint8_t *)args->y + range.begin * columns;
  for (uint32_t row = range.begin; row < range.end; ++row, x += columns, y += columns) {
    scale_row(args, x, y, tvm_pulp_row_sums(x, args->x_type, columns, 0));
  }
}

static __attribute__((noinline)) void wide_rows(const struct tvm_pulp_rms_norm_args *args, uint32_t core,
                                                uint32_t cores) {
  tvm_pulp_plain_rms_norm(args, core, cores);
}

#if defined(__riscv_flen)
static inline int32_t exact(const struct tvm_pulp_rms_norm_args *args, const struct tvm_pulp_real_row *r, uint32_t i) {
  int32_t weight = (int32_t)(args->real_weight[i] * tvm_pulp_norm_unit(args->shift));
  int32_t value = tvm_pulp_load(r->x, i, args->x_type) * weight / r->root >> args->shift;
  return tvm_pulp_xp_clipr(value, (int32_t)(args->levels / 2u - 1u));
}
static inline void statistics(const struct tvm_pulp_rms_norm_args *args, struct tvm_pulp_real_row *row) {
  uint32_t columns = args->columns, squares = tvm_pulp_row_sums(row->x, args->x_type, columns, 0);
  row->mean = 0;
  tvm_pulp_set_real_root(row, tvm_pulp_mean(squares, columns) + 1u);
}
#define PAIRS(name, LOAD) \
  TVM_PULP_REAL_PAIRS(name, tvm_pulp_rms_norm_args, LOAD, REAL_KEPT, REAL_NO_BIAS, REAL_SAME, , args->real_weight)
PAIRS(signed_pairs, XP_LB)
PAIRS(unsigned_pairs, XP_LBU)
TVM_PULP_REAL_ROWS(tvm_pulp_rms_norm_args)
#endif

TVM_PULP_KERNEL(rms_norm) {
#if defined(__riscv_flen)
  if (args->real_weight) {
    real_rows(args, core, cores);
    return;
  }
#endif
  if (args->wide || args->x_type == TVM_PULP_INT32 || args->levels > 256u) {
    wide_rows(args, core, cores);
  } else if (args->rows >= cores) {
    many_rows(args, core, cores);
  } else if (args->x_type == TVM_PULP_INT8) {
    if (args->rows == 1u) {
      signed_row(args, core, cores);
    } else {
      signed_rows(args, core, cores);
    }
  } else if (args->rows == 1u) {
    unsigned_row(args, core, cores);
  } else {
    unsigned_rows(args, core, cores);
  }
}
