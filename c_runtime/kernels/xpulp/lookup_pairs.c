/* SPDX-License-Identifier: Apache-2.0
 *
 * Four pairs at a time: two shuffles make halves of the words of both operands, each the place of a result. */
#include "four_elements.h"
#include "tvm_pulp/kernels.h"

TVM_PULP_KERNEL(lookup_pairs) {
  const struct tvm_pulp_range range = tvm_pulp_share_words(args->count, core, cores);
  const uint8_t *a = args->a + range.begin, *b = args->b + range.begin;
  uint8_t *y = args->y + range.begin;
  const uint32_t count = range.end - range.begin, n = count >> 2;
  int32_t w0, w1, w2;
  FOUR_LOCALS;
  if (n) {
    __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LW("%[w0]", 4, "%[pa]") XP_LW("%[w1]", 4, "%[pb]")
                         "addi %[w2],%[w0],0\n" XP_SHUFFLE2_B("%[w0]", "%[w1]", "%[low]")
                             XP_SHUFFLE2_B("%[w2]", "%[w1]", "%[up]") "and %[v0],%[w0],%[h]\nsrli %[v1],%[w0],16\n"
                         "and %[v2],%[w2],%[h]\nsrli %[v3],%[w2],16\n" FOUR(XP_LBUX, "%[t]") FOUR_STORE XP_END
                     : FOUR_OUTPUTS, [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [pa] "+r"(a), [pb] "+r"(b)
                     : [n] "r"(n), [t] "r"(args->table), [low] "r"(0x01050004), [up] "r"(0x03070206), [h] "r"(0xffff)
                     : "memory");
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) y[i] = args->table[256u * a[i] + b[i]];
}
