/* SPDX-License-Identifier: Apache-2.0
 *
 * Four values at a time. */
#include "four_elements.h"

#define EACH(OP) OP("%[v0]", "%[f0]", "0") OP("%[v1]", "%[f1]", "4") OP("%[v2]", "%[f2]", "8")
#define SUBTRACT(v, f, i) "sub " v "," v ",%[z]\n"
#define REAL(v, f, i) "fcvt.s.w " f "," v "\n"
#define SCALE(v, f, i) "fmul.s " f "," f ",%[k]\n"
#define STORE(v, f, i) "fsw " f "," i "(%[y])\n"
#define LOOP(GET)                                                                                                \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") FOUR_LOAD(GET, 1, "%[x]") EACH(SUBTRACT) SUBTRACT("%[v3]", , )        \
                       EACH(REAL) REAL("%[v3]", "%[f3]", ) EACH(SCALE) SCALE(, "%[f3]", ) EACH(STORE)            \
                       "addi %[y],%[y],16\n" XP_LOOP_END "fsw %[f3],-4(%[y])\n" XP_END                          \
                   : [x] "+r"(x), [y] "+r"(y), FOUR_VALUES, XP_FOUR("=&f", f)                                    \
                   : [n] "r"(n), [k] "f"(scale), [z] "r"(zero)                                                   \
                   : "memory")

TVM_PULP_KERNEL(dequantize) {
  struct tvm_pulp_range range = tvm_pulp_share_words(args->count, core, cores);
  const uint8_t *x = args->x + range.begin;
  float *y = args->y + range.begin, f0, f1, f2, f3;
  const float scale = *args->scale;
  const int32_t zero = args->zero_point;
  const uint32_t count = range.end - range.begin, n = count >> 2;
  if (n) {
    int32_t v0, v1, v2, v3;
    XP_BY_SIGN(args->x_type, LOOP(XP_LB), LOOP(XP_LBU));
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    *y++ = (float)(tvm_pulp_load(x, i, args->x_type) - zero) * scale;
  }
}
