/* SPDX-License-Identifier: Apache-2.0
 *
 * Four inputs at a time: a word of weights, a scale and a sum per column, in one loop. Neighbouring columns belong to
 * different cores, which so use different banks. */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

#define COLUMNS(SCALE, DOT)                                                                                          \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") XP_LWR("%[v]", "%[s]", "%[w]") SCALE XP_LWR("%[b]", "%[s]", "%[from]")   \
                       DOT("%[v]", "%[x]", "%[v]") XP_MAC("%[b]", "%[v]", "%[m]")                                    \
                           XP_LOOP_END XP_SWR("%[b]", "%[s]", "%[y]") XP_END                                         \
                   : [w] "+r"(weight), [scale] "+r"(scale), [from] "+r"(from), [y] "+r"(y), [v] "=&r"(v),            \
                     [m] "=&r"(m), [b] "=&r"(b)                                                                      \
                   : [n] "r"(n), [s] "r"(4u * cores), [c] "r"(cores), [x] "r"(x)                                     \
                   : "memory")
#define BYTE XP_LBUR("%[m]", "%[c]", "%[scale]")
#define WORD XP_LWR("%[m]", "%[s]", "%[scale]")

TVM_PULP_KERNEL(bias_of_rest) {
  const struct tvm_pulp_range share = tvm_pulp_share(args->columns, core, cores);
  const uint32_t n = share.end - share.begin, is_byte = args->scale_type == TVM_PULP_UINT8;
  if (n == 0u) return;
  for (uint32_t part = 0; part < args->depth; part += 4u) {
    const int8_t *weight = args->weight + part * args->columns + 4u * core;
    const uint8_t *scale = (const uint8_t *)args->scale + (is_byte ? core : 4u * core);
    const int32_t *from = (part ? args->y : args->bias) + core;
    int32_t *y = args->y + core, x = tvm_pulp_xp_word(args->x + part), v, m, b;
    if (args->x_type == TVM_PULP_INT8) {
      if (is_byte) COLUMNS(BYTE, XP_DOTSP); else COLUMNS(WORD, XP_DOTSP);
    } else {
      if (is_byte) COLUMNS(BYTE, XP_DOTUSP); else COLUMNS(WORD, XP_DOTUSP);
    }
  }
}
