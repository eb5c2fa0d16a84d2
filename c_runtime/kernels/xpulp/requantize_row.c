/* SPDX-License-Identifier: Apache-2.0 */
#include "requantize_row.h"

#include "four_elements.h"

/* The only row: groups of four channels, `cores` of them from one to the next, with their summands and shifts from
 * memory. Few registers, so that the function saves few. */
#define ONE_ROW(CLIP)                                                                                           \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "lw %[v1],4(%[x])\nlw %[a0],4(%[a])\nlw %[s0],4(%[s])\n"            \
                   "lw %[v2],8(%[x])\n" XP_ADDNR("%[v1]", "%[a0]", "%[s0]") "lw %[a0],8(%[a])\nlw %[s0],8(%[s])\n" \
                   "lw %[v3],12(%[x])\n" XP_ADDNR("%[v2]", "%[a0]", "%[s0]") "lw %[a0],12(%[a])\n"              \
                   "lw %[s0],12(%[s])\n" XP_LWR("%[v0]", "%[xs]", "%[x]") XP_ADDNR("%[v3]", "%[a0]", "%[s0]")   \
                   XP_LWR("%[a0]", "%[xs]", "%[a]") XP_LWR("%[s0]", "%[xs]", "%[s]") CLIP("%[v1]", "%[v1]", "%[h]") \
                   XP_ADDNR("%[v0]", "%[a0]", "%[s0]") CLIP("%[v2]", "%[v2]", "%[h]") CLIP("%[v3]", "%[v3]", "%[h]") \
                   CLIP("%[v0]", "%[v0]", "%[h]") FOUR_PACK XP_LOOP_END XP_SWR("%[v0]", "%[ys]", "%[y]") XP_END \
                   : [x] "+r"(x), [y] "+r"(y), [a] "+r"(add), [s] "+r"(shift), FOUR_VALUES, [a0] "=&r"(a0),     \
                     [s0] "=&r"(s0)                                                                             \
                   : [n] "r"(n), [xs] "r"(16u * cores), [ys] "r"(4u * cores), [h] "r"(r->high)                  \
                   : "memory")

void tvm_pulp_requantize_row_of_shifts(const struct tvm_pulp_requantize_args *p, uint32_t core, uint32_t cores) {
  const struct tvm_pulp_requant *r = &p->requant;
  const struct tvm_pulp_range share = tvm_pulp_share(p->columns >> 2, core, cores);
  const int32_t *shift = r->mul + 4u * core, *add = r->add + 4u * core, *x = (const int32_t *)p->x + 4u * core;
  const uint32_t n = share.end - share.begin;
  uint8_t *y = (uint8_t *)p->y + 4u * core;
  int32_t a0, s0;
  FOUR_LOCALS;
  if (n == 0u) return;
  FOUR_BY_RANGE(r, ONE_ROW(XP_CLIPUR), ONE_ROW(XP_CLIPR));
}
