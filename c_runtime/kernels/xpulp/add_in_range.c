/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums to a range that no single instruction clips, as behind TFLite's ReLU. A kernel of its own: the code of other
 * sums stays as short as it is. */
#include "four_elements.h"
#include "tvm_pulp/kernels.h"

#define LOOP(LOAD_A, LOAD_B)                                                                           \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_PAIRS(LOAD_A, LOAD_B) FOUR_SUMS                       \
                   FOUR(XP_BETWEEN, "%[h]") FOUR_STORE XP_END                                          \
                   : FOUR_OUTPUTS, FOUR_SECONDS, [pa] "+r"(a), [pb] "+r"(b)                            \
                   : [n] "r"(n), [m] "r"(p->mul_a), [mb] "r"(p->mul_b), [a] "r"(p->add),               \
                     [sh] "r"(p->shift), [l] "r"(p->low), [h] "r"(p->high)                             \
                   : "memory")

static __attribute__((noinline)) void add_piece(const struct tvm_pulp_add_in_range_args *p, const uint8_t *a,
                                                const uint8_t *b, uint8_t *y, uint32_t count) {
  int32_t w0, w1, w2, w3;
  FOUR_LOCALS;
  const uint32_t n = count >> 2;
  if (n != 0u) {
    XP_BY_SIGN(p->a_type, XP_BY_SIGN(p->b_type, LOOP(XP_LB, XP_LB), LOOP(XP_LB, XP_LBU)),
               XP_BY_SIGN(p->b_type, LOOP(XP_LBU, XP_LB), LOOP(XP_LBU, XP_LBU)));
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    /* The sum fits 32 bits, so products may wrap around on the way. */
    uint32_t left = (uint32_t)tvm_pulp_load(a, i, p->a_type) * (uint32_t)p->mul_a;
    uint32_t right = (uint32_t)tvm_pulp_load(b, i, p->b_type) * (uint32_t)p->mul_b;
    int32_t scaled = tvm_pulp_xp_add_shift((int32_t)(left + right), p->add, p->shift);
    y[i] = (uint8_t)tvm_pulp_xp_min(tvm_pulp_xp_max(scaled, p->low), p->high);
  }
}

TVM_PULP_KERNEL(add_in_range) {
  const uint32_t columns = args->columns;
  const uint32_t is_dense = FOUR_ARE_DENSE;
  FOUR_EACH_PAIR(add_piece, is_dense);
}
