/* SPDX-License-Identifier: Apache-2.0 */
#include "add_bounded.h"

#include "four_elements.h"

static __attribute__((noinline)) void add_piece(const struct tvm_pulp_add_args *p, const uint8_t *a, const uint8_t *b,
                                                uint8_t *y, uint32_t count) {
  const struct tvm_pulp_requant *r = &p->requant;
  /* The scaled sum fits 32 bits, so products may wrap around on the way. */
  const uint32_t of_sum = (uint32_t)r->mul[0], mul = of_sum * (uint32_t)p->mul_a, mul_b = of_sum * (uint32_t)p->mul_b;
  const uint32_t least = tvm_pulp_four_times(r->low), most = tvm_pulp_four_times(r->high), n = count >> 2;
  int32_t add = r->add[0], high = r->high > ~r->low ? r->high : ~r->low, w0, w1, w2, w3;
  FOUR_LOCALS;
  if (n != 0u) {
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_PAIRS(XP_LB, XP_LB) FOUR_MUL("%[m]")
                     XP_MAC("%[v0]", "%[w0]", "%[mb]") XP_MAC("%[v1]", "%[w1]", "%[mb]")
                     XP_MAC("%[v2]", "%[w2]", "%[mb]") XP_MAC("%[v3]", "%[w3]", "%[mb]")
                     FOUR_ADD FOUR(XP_CLIPR, "%[h]") FOUR_PACK SIGNED_ENDS XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END
                     : FOUR_OUTPUTS, [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "=&r"(w3),
                       [pa] "+r"(a), [pb] "+r"(b)
                     : [n] "r"(n), [m] "r"(mul), [a] "r"(add), [sh] "r"(r->shift), [h] "r"(high), [mb] "r"(mul_b) ENDS
                     : "memory");
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    int32_t left = (int8_t)a[i], right = (int8_t)b[i];
    y[i] = tvm_pulp_one(r, (int32_t)((uint32_t)left * mul + (uint32_t)right * mul_b), 1, add);
  }
}

void tvm_pulp_add_bounded(const struct tvm_pulp_add_args *args, uint32_t core, uint32_t cores) {
  const uint32_t columns = args->columns;
  uint32_t is_dense = args->a_stride == columns && args->b_stride == columns && args->y_stride == columns;
  TVM_PULP_EACH_PIECE(args->rows, columns, is_dense, core, cores, {
    const uint8_t *a = (const uint8_t *)args->a + row * args->a_stride + column;
    const uint8_t *b = (const uint8_t *)args->b + row * args->b_stride + column;
    add_piece(args, a, b, (uint8_t *)args->y + row * args->y_stride + column, count);
  });
}
