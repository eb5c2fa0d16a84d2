/* SPDX-License-Identifier: Apache-2.0
 *
 * The sum of d^2 follows from the sums of x and x^2; the shift comes after the bias, so the root has none. */
#include "norm_real.h"

#define CENTRED(v, w) "sub " v "," v ",%[mean]\n"
#define BIAS(v, w) XP_LW(w, 4, "%[b]")
#define BIASED(v, w) XP_ADDNR(v, w, "%[sh]")
#define LOOP(LOAD)                                                                                                  \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") NORM_LOADS(LOAD) FOUR_EACH(CENTRED) NORM_FOUR_DIVIDED                   \
                       FOUR_EACH(BIAS) FOUR_EACH(NORM_SCALED) FOUR_EACH(BIASED) FOUR_EACH(NORM_CLIPPED)             \
                       FOUR_STORE XP_END                                                                            \
                   : [x] "+r"(x), [w] "+r"(weight), [b] "+r"(bias), [y] "+r"(y), FOUR_VALUES, FOUR_SECONDS          \
                   : [n] "r"(n), [c] "r"(r.correction), [m] "r"(r.multiplier), [j] "r"(r.shift), [h] "r"(high),     \
                     [sh] "r"(args->shift), [mean] "r"(mean)                                                        \
                   : "memory")

static inline uint32_t variance(const struct tvm_pulp_layer_norm_args *args, const uint8_t *x, int32_t *mean) {
  int32_t total;
  uint32_t columns = args->columns;
  uint32_t squares = tvm_pulp_row_sums(x, args->x_type, columns, &total);
  int32_t m = (int32_t)tvm_pulp_mean((uint32_t)tvm_pulp_xp_abs(total), columns);
  *mean = m = total < 0 ? -m : m;
  return tvm_pulp_mean(squares + (uint32_t)(m * m) * columns - 2u * (uint32_t)(m * total), columns);
}

static void scale_piece(const struct tvm_pulp_layer_norm_args *args, const uint8_t *x, const int32_t *weight,
                        const int32_t *bias, uint8_t *y, uint32_t count, int32_t mean, struct tvm_pulp_root r) {
  int32_t high = (int32_t)(args->levels / 2u - 1u), v0, v1, v2, v3, w0, w1, w2, w3;
  uint32_t n = count >> 2;
  if (n) {
    XP_BY_SIGN(args->x_type, LOOP(XP_LB), LOOP(XP_LBU));
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    int32_t value = (tvm_pulp_load(x, i, args->x_type) - mean) * weight[i], quotient;
    if (value < 0) value += r.correction;
    __asm__("mulhsu %0,%1,%2" : "=r"(quotient) : "r"(value), "r"(r.multiplier));
    y[i] = (uint8_t)tvm_pulp_xp_clipr(tvm_pulp_xp_add_shift(quotient >> r.shift, bias[i], args->shift), high);
  }
}

#if defined(__riscv_flen)
static inline int32_t exact(const struct tvm_pulp_layer_norm_args *args, const struct tvm_pulp_real_row *r, uint32_t i) {
  float unit = tvm_pulp_norm_unit(args->shift);
  int32_t weight = (int32_t)(args->real_weight[i] * unit), value = tvm_pulp_load(r->x, i, args->x_type) - r->mean;
  int32_t bias = (int32_t)((args->real_bias[i] - (float)args->lift) * unit);
  return tvm_pulp_xp_clipr((value * weight / r->root + bias) >> args->shift, (int32_t)(args->levels / 2u - 1u));
}
static inline void statistics(const struct tvm_pulp_layer_norm_args *args, struct tvm_pulp_real_row *row) {
  tvm_pulp_set_real_root(row, variance(args, row->x, &row->mean) + 1u);
}
#define PAIRS(name, LOAD)                                                                                        \
  TVM_PULP_REAL_PAIRS(name, tvm_pulp_layer_norm_args, LOAD, REAL_CENTRED, REAL_BIAS, REAL_OWN, REAL_NEXT_BIAS, \
                      args->real_bias)
PAIRS(signed_pairs, XP_LB)
PAIRS(unsigned_pairs, XP_LBU)
TVM_PULP_REAL_ROWS(tvm_pulp_layer_norm_args)
#endif

TVM_PULP_KERNEL(layer_norm) {
#if defined(__riscv_flen)
  if (args->real_weight) {
    real_rows(args, core, cores);
    return;
  }
#endif
  if (args->wide || args->x_type == TVM_PULP_INT32 || args->levels > 256u) {
    tvm_pulp_plain_layer_norm(args, core, cores);
    return;
  }
  uint32_t columns = args->columns;
  struct tvm_pulp_row_walk w = tvm_pulp_walk_rows(args->rows, columns, core, cores);
  for (; tvm_pulp_next_piece(&w); tvm_pulp_walk_on(&w)) {
    const uint8_t *x = (const uint8_t *)args->x + w.row * columns;
    int32_t mean;
    struct tvm_pulp_root root = tvm_pulp_root_of(variance(args, x, &mean) + 1u, 0);
    uint8_t *y = (uint8_t *)args->y + w.row * columns + w.column;
    scale_piece(args, x + w.column, args->double_weight + w.column, args->bias + w.column, y, w.count, mean, root);
  }
}
