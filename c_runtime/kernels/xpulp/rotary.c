/* SPDX-License-Identifier: Apache-2.0
 *
 * One pair at a time: cosine and sine are the halves of a word, and so are the pair's values in the order that each
 * result needs. */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

TVM_PULP_KERNEL(rotary) {
  const uint32_t size = args->size, pairs = size >> 1;
  struct tvm_pulp_range range = tvm_pulp_share(args->positions * args->heads, core, cores);
  for (uint32_t at = range.begin; at < range.end; ++at) {
    const uint32_t position = args->positions == 1u ? 0u : at / args->heads;
    const int8_t *x = args->x + at * size;
    const int16_t *rotation = args->rotation + position * size;
    int8_t *y = args->y + at * size;
    int32_t even, odd, turn, u, v;
    __asm__ volatile(
        XP_BEGIN XP_LOOP("%[n]") XP_LB("%[e]", 1, "%[x]") XP_LB("%[o]", 1, "%[x]")
            XP_LW("%[t]", 4, "%[r]") "sub %[v],x0,%[o]\n" XP_PACK_H("%[u]", "%[v]", "%[e]")
                XP_PACK_H("%[v]", "%[e]", "%[o]") XP_DOTSP2("%[u]", "%[u]", "%[t]")
                    XP_DOTSP2("%[v]", "%[v]", "%[t]") XP_ADDNR("%[u]", "%[h]", "%[s]")
                        XP_ADDNR("%[v]", "%[h]", "%[s]") XP_CLIP8("%[u]", "%[u]") XP_CLIP8("%[v]", "%[v]")
                            XP_SB("%[u]", 1, "%[y]") XP_LOOP_END XP_SB("%[v]", 1, "%[y]") XP_END
        : [x] "+r"(x), [r] "+r"(rotation), [y] "+r"(y), [e] "=&r"(even), [o] "=&r"(odd), [t] "=&r"(turn),
          [u] "=&r"(u), [v] "=&r"(v)
        : [n] "r"(pairs), [h] "r"(1 << 13), [s] "r"(14)
        : "memory");
  }
}
