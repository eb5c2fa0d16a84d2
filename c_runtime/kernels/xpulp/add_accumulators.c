/* SPDX-License-Identifier: Apache-2.0
 *
 * One loop over the channels of a pixel: accumulators with bytes, and accumulators with accumulators. */
#include "tvm_pulp/plain/add_accumulators.h"
#include "tvm_pulp/xpulp.h"

#define SCALED(v, p, m, left) XP_LW(v, 4, p) XP_LW("%[u]", 4, m) "sll " v "," v "," left "\nmulh " v "," v ",%[u]\n"
#define FINISH                                                                                       \
  XP_ADDNR("%[v]", "%[more]", "%[sh]") XP_MIN("%[v]", "%[v]", "%[high]") XP_MAX("%[v]", "%[v]", "%[low]") \
  XP_LOOP_END XP_SB("%[v]", 1, "%[y]") XP_END
#define OUTPUTS [y] "+r"(y), [a] "+r"(a), [b] "+r"(b), [ma] "+r"(ma), [v] "=&r"(v), [u] "=&r"(u)
#define INPUTS                                                                                       \
  [n] "r"(args->columns), [la] "r"(args->left_a), [more] "r"(more), [sh] "r"(args->fraction), [high] "r"(args->high), \
      [low] "r"(args->low)

/* Accumulators a, bytes b; `more` holds the zero point of b too. */
#define BYTES_LOOP(LOAD)                                                                             \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") SCALED("%[v]", "%[a]", "%[ma]", "%[la]") LOAD("%[u]", 1, "%[b]") \
                   XP_MAC("%[v]", "%[u]", "%[mb]") FINISH                                            \
                   : OUTPUTS                                                                         \
                   : INPUTS, [mb] "r"(args->mul_b[0])                                                \
                   : "memory")

static void bytes_row(const struct tvm_pulp_add_accumulators_args *args, const int32_t *a, const uint8_t *b, uint8_t *y,
                      int32_t more) {
  const int32_t *ma = args->mul_a;
  int32_t v, u;
  XP_BY_SIGN(args->b_type, BYTES_LOOP(XP_LB), BYTES_LOOP(XP_LBU));
}

static void words_row(const struct tvm_pulp_add_accumulators_args *args, const int32_t *a, const int32_t *b, uint8_t *y,
                      int32_t more) {
  const int32_t *ma = args->mul_a, *mb = args->mul_b;
  int32_t v, u, w;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") SCALED("%[v]", "%[a]", "%[ma]", "%[la]")
                       SCALED("%[w]", "%[b]", "%[mb]", "%[lb]") "add %[v],%[v],%[w]\n" FINISH
                   : OUTPUTS, [mb] "+r"(mb), [w] "=&r"(w)
                   : INPUTS, [lb] "r"(args->left_b)
                   : "memory");
}

TVM_PULP_KERNEL(add_accumulators) {
  if (args->a_type != TVM_PULP_INT32) {
    tvm_pulp_plain_add_accumulators(args, core, cores);
    return;
  }
  struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);
  uint32_t columns = args->columns, at = range.begin * columns;
  const int32_t *a = (const int32_t *)args->a + at;
  int32_t more = tvm_pulp_half_and_zero(args);
  if (args->b_type == TVM_PULP_INT32) {
    const int32_t *b = (const int32_t *)args->b + at;
    for (uint32_t row = range.begin; row < range.end; ++row, at += columns, a += columns, b += columns) {
      words_row(args, a, b, args->y + at, more);
    }
    return;
  }
  const uint8_t *b = (const uint8_t *)args->b + at;
  more = (int32_t)((uint32_t)more - (uint32_t)args->zero_point_b * (uint32_t)args->mul_b[0]);
  for (uint32_t row = range.begin; row < range.end; ++row, at += columns, a += columns, b += columns) {
    bytes_row(args, a, b, args->y + at, more);
  }
}
