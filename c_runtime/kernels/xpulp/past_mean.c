/* SPDX-License-Identifier: Apache-2.0
 *
 * One division for a head, a product for every element. */
#include "reciprocal.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"

TVM_PULP_KERNEL(past_mean) {
  const uint32_t size = args->size;
  struct tvm_pulp_range range = tvm_pulp_share(args->heads, core, cores);
  for (uint32_t head = range.begin; head < range.end; ++head) {
    const int32_t *mix = args->mix + head * (size + 2u);
    const uint32_t own = (uint32_t)mix[size], total = (uint32_t)mix[size + 1u];
    const int8_t *v = args->v + (args->group == 1u ? head : head / args->group) * size;
    int8_t *y = args->y + head * size;
    const struct tvm_pulp_reciprocal inverse = tvm_pulp_short_reciprocal(2u * total);
    /* Values above -128 make the numerator positive. */
    int32_t raised = (int32_t)(257u * total + 1u), a, b;
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LB("%[b]", 1, "%[v]") XP_LW("%[a]", 4, "%[m]") "nop\n"
                         XP_MAC("%[a]", "%[b]", "%[o]") "slli %[a],%[a],1\nadd %[a],%[a],%[r]\nmulhu %[a],%[a],%[i]\n"
                     "srl %[a],%[a],%[s]\naddi %[a],%[a],-128\n" XP_LOOP_END XP_SB("%[a]", 1, "%[y]") XP_END
                     : [v] "+r"(v), [m] "+r"(mix), [y] "+r"(y), [a] "=&r"(a), [b] "=&r"(b)
                     : [n] "r"(size), [o] "r"(own), [r] "r"(raised), [i] "r"(inverse.multiplier), [s] "r"(inverse.shift)
                     : "memory");
  }
}
