/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows are shared where there are as many as cores, else every row is, its root made by all who need it. */
#include "norm_row.h"

#define LOOP(LOAD)                                                                                        \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(LOAD, 1, "%[x]") FOUR_FINISH(XP_CLIPR) XP_END       \
                   : [x] "+r"(x), [y] "+r"(y), FOUR_VALUES                                                \
                   : [n] "r"(n), [m] "r"(factor), [a] "r"(args->add), [sh] "r"(args->shift), [h] "r"(high) \
                   : "memory")

#define SQUARES                                                                                                    \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[f]", 4, "%[x]") XP_LW("%[g]", 4, "%[x]") XP_SDOTSPS("%[q]", "%[f]") \
                       XP_LOOP_END XP_SDOTSPS("%[r]", "%[g]") XP_END                                               \
                   : [x] "+r"(x), [q] "+r"(squares), [r] "+r"(more), [f] "=&r"(v0), [g] "=&r"(v1)                   \
                   : [n] "r"(n)                                                                                    \
                   : "memory")

/* Elements [column, column + count) of a row. */
#define PIECE(name, type, SUMS, LOAD)                                                                              \
  static inline __attribute__((always_inline)) void name(const struct tvm_pulp_uniform_norm_args *args, const type *x, \
                                                         uint8_t *y, uint32_t column, uint32_t count) {            \
    uint32_t columns = args->columns, n = count >> 2, mean = tvm_pulp_mean(SUMS(x, columns, 0), columns);          \
    int32_t factor = args->factors[tvm_pulp_xp_isqrt(mean + 1u)], v0, v1, v2, v3;                                  \
    int32_t high = (int32_t)(args->levels / 2u - 1u);                                                              \
    x += column;                                                                                                   \
    y += column;                                                                                                   \
    if (n != 0u) LOOP(LOAD);                                                                                       \
    for (n = count & 3u; n != 0u; --n) {                                                                           \
      *y++ = (uint8_t)tvm_pulp_xp_clipr((*x++ * factor + args->add) >> args->shift, high);                         \
    }                                                                                                              \
  }
PIECE(signed_piece, int8_t, tvm_pulp_sums_signed, XP_LB)
PIECE(unsigned_piece, uint8_t, tvm_pulp_sums_unsigned, XP_LBU)

static __attribute__((noinline)) void any_rows(const struct tvm_pulp_uniform_norm_args *args, uint32_t core,
                                               uint32_t cores) {
  struct tvm_pulp_row_walk w = tvm_pulp_walk_rows(args->rows, args->columns, core, cores);
  for (; tvm_pulp_next_piece(&w); tvm_pulp_walk_on(&w)) {
    const uint8_t *x = (const uint8_t *)args->x + w.row * w.columns;
    uint8_t *y = (uint8_t *)args->y + w.row * w.columns;
    XP_BY_SIGN(args->x_type, signed_piece(args, (const int8_t *)x, y, w.column, w.count),
               unsigned_piece(args, x, y, w.column, w.count));
  }
}

/* One signed row, a token, is the usual case, mostly of a power of two of columns: its code is small, since it is cold. */
TVM_PULP_KERNEL(uniform_norm) {
  uint32_t columns = args->columns, odd = (columns & (columns - 1u)) | (cores & (cores - 1u));
  if ((odd | (args->rows - 1u) | (args->x_type - TVM_PULP_INT8)) != 0u || columns < 8u * cores) {
    any_rows(args, core, cores);
    return;
  }
  uint32_t each = columns >> tvm_pulp_xp_fl1((int32_t)cores);
  const int8_t *x = (const int8_t *)args->x;
  uint32_t n = columns >> 3, squares = 0, more = 0;
  int32_t v0, v1, v2, v3, high = (int32_t)(args->levels / 2u - 1u);
  SQUARES;
  int32_t factor = args->factors[tvm_pulp_xp_isqrt(((squares + more) >> tvm_pulp_xp_fl1((int32_t)columns)) + 1u)];
  uint8_t *y = (uint8_t *)args->y + core * each;
  x = (const int8_t *)args->x + core * each;
  n = each >> 2;
  LOOP(XP_LB);
}
