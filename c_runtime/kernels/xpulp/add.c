/* SPDX-License-Identifier: Apache-2.0
 *
 * Fast where both operands are bytes, with two narrow tables or without any. */
#include "add_by_table.h"
#include "add_few.h"
#include "four_elements.h"
#include "tvm_pulp/plain/elementwise.h"

#define LOOP(LOADS, CLIP)                                                                           \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LOADS FOUR_SUMS FOUR(CLIP, "%[h]") FOUR_STORE XP_END    \
                   : FOUR_OUTPUTS, FOUR_SECONDS, [pa] "+r"(a), [pb] "+r"(b)                         \
                   : FOUR_INPUTS, [mb] "r"(mul_b), [ta] "r"(p->table_a), [tb] "r"(p->table_b)       \
                   : "memory")
#define LOOPS(LOADS) FOUR_BY_RANGE(r, LOOP(LOADS, XP_CLIPUR), LOOP(LOADS, XP_CLIPR))
#define LOOKUPS                                                                                     \
  XP_LBX("%[v0]", "%[v0]", "%[ta]") XP_LBX("%[w0]", "%[w0]", "%[tb]") XP_LBX("%[v1]", "%[v1]", "%[ta]") \
  XP_LBX("%[w1]", "%[w1]", "%[tb]") XP_LBX("%[v2]", "%[v2]", "%[ta]") XP_LBX("%[w2]", "%[w2]", "%[tb]") \
  XP_LBX("%[v3]", "%[v3]", "%[ta]") XP_LBX("%[w3]", "%[w3]", "%[tb]")

static __attribute__((noinline)) void add_piece(const struct tvm_pulp_add_args *p, const uint8_t *a,
                                                const uint8_t *b, uint8_t *y, uint32_t count) {
  const struct tvm_pulp_requant *r = &p->requant;
  /* The scaled sum fits 32 bits, so products may wrap around on the way. */
  uint32_t of_sum = (uint32_t)r->mul[0], mul = of_sum * (uint32_t)p->mul_a, mul_b = of_sum * (uint32_t)p->mul_b;
  int32_t add = r->add[0], w0, w1, w2, w3;
  FOUR_LOCALS;
  uint32_t n = count >> 2;
  if (n == 0u) {
    /* only the rest below */
  } else if (p->table_a) {
    LOOPS(FOUR_PAIRS(XP_LBU, XP_LBU) LOOKUPS);
  } else {
    XP_BY_SIGN(p->a_type, XP_BY_SIGN(p->b_type, LOOPS(FOUR_PAIRS(XP_LB, XP_LB)), LOOPS(FOUR_PAIRS(XP_LB, XP_LBU))),
               XP_BY_SIGN(p->b_type, LOOPS(FOUR_PAIRS(XP_LBU, XP_LB)), LOOPS(FOUR_PAIRS(XP_LBU, XP_LBU))));
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    int32_t left = tvm_pulp_plain_operand(a, i, p->a_type, p->table_a, 0);
    int32_t right = tvm_pulp_plain_operand(b, i, p->b_type, p->table_b, 0);
    y[i] = tvm_pulp_one(r, (int32_t)((uint32_t)left * mul + (uint32_t)right * mul_b), 1, add);
  }
}

TVM_PULP_KERNEL(add) {
  const uint32_t columns = args->columns;
  if (columns <= TVM_PULP_ADD_FEW && args->rows == 1u && tvm_pulp_is_four(&args->requant) &&
      !(args->sum_table || args->table_a || args->table_b || args->wide_table_a || args->wide_table_b ||
        ((args->a_type | args->b_type) & TVM_PULP_INT32))) {
    tvm_pulp_add_few(args, core, cores);
    return;
  }
  if (args->sum_table) {
    tvm_pulp_add_by_table(args, core, cores);
    return;
  }
  /* Two narrow tables, whose operands are bytes, or none at all. */
  uint32_t fast = args->table_a && args->table_b;
  if (!fast) {
    uint32_t wide = args->wide_table_a || args->wide_table_b || ((args->a_type | args->b_type) & TVM_PULP_INT32);
    fast = !wide && !args->table_a && !args->table_b;
  }
  if (!fast || !tvm_pulp_is_four(&args->requant)) {
    tvm_pulp_plain_add(args, core, cores);
    return;
  }
  const uint32_t is_dense = FOUR_ARE_DENSE;
  FOUR_EACH_PAIR(add_piece, is_dense);
}
