/* SPDX-License-Identifier: Apache-2.0
 *
 * A loop over single elements. Bytes with a sign have it flipped, and the summand makes up for it. */
#include "add_few.h"

#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

void tvm_pulp_add_few(const struct tvm_pulp_add_args *p, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_requant *r = &p->requant;
  const struct tvm_pulp_range range = tvm_pulp_share_words(p->columns, core, cores);
  const uint8_t *a = (const uint8_t *)p->a + range.begin, *b = (const uint8_t *)p->b + range.begin;
  const uint32_t n = range.end - range.begin, of_sum = (uint32_t)r->mul[0];
  const uint32_t mul_a = of_sum * (uint32_t)p->mul_a, mul_b = of_sum * (uint32_t)p->mul_b;
  const uint32_t sign_a = p->a_type == TVM_PULP_INT8 ? 0x80u : 0u, sign_b = p->b_type == TVM_PULP_INT8 ? 0x80u : 0u;
  const uint32_t add = (uint32_t)r->add[0] - sign_a * mul_a - sign_b * mul_b;
  uint8_t *y = (uint8_t *)p->y + range.begin;
  int32_t v, w;
  if (n == 0u) return;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LBU("%[v]", 1, "%[a]") XP_LBU("%[w]", 1, "%[b]") "xor %[v],%[v],%[sa]\n"
                   "xor %[w],%[w],%[sb]\nmul %[v],%[v],%[ma]\n" XP_MAC("%[v]", "%[w]", "%[mb]")
                   XP_ADDNR("%[v]", "%[add]", "%[s]") XP_MAX("%[v]", "%[v]", "%[l]") XP_MIN("%[v]", "%[v]", "%[h]")
                   XP_LOOP_END XP_SB("%[v]", 1, "%[y]") XP_END
                   : [a] "+r"(a), [b] "+r"(b), [y] "+r"(y), [v] "=&r"(v), [w] "=&r"(w)
                   : [n] "r"(n), [sa] "r"(sign_a), [sb] "r"(sign_b), [ma] "r"(mul_a), [mb] "r"(mul_b), [add] "r"(add),
                     [s] "r"(r->shift), [l] "r"(r->low), [h] "r"(r->high)
                   : "memory");
}
