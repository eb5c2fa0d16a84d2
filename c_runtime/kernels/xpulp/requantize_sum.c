/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of all rows, whose constants stay in registers; where there are few columns, of some rows. */
#include "shift_loop.h"
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

#define EACH(OP) OP("1") OP("2") OP("3") OP("0")
#define FIRST(i) XP_ADDNR("%[v" i "]", "%[a" i "]", "%[s" i "]")
#define CLIP(i) XP_CLIP8("%[v" i "]", "%[v" i "]")
#define MULTIPLY(i) "mul %[v" i "],%[v" i "],%[m]\n"
#define SECOND(i) XP_ADDNR("%[v" i "]", "%[c]", "%[r]")
/* Bytes of the other operand two by two, so that registers suffice; `b` is at the last of four. */
#define LOOP(LOAD, LOAD_ON)                                                                                     \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "lw %[v1],4(%[x])\nlw %[v2],8(%[x])\nlw %[v3],12(%[x])\n"           \
                   XP_LWR("%[v0]", "%[xs]", "%[x]") LOAD " %[w0],-3(%[b])\n" LOAD " %[w1],-2(%[b])\n" EACH(FIRST) \
                   EACH(CLIP) EACH(MULTIPLY) XP_MAC("%[v0]", "%[w0]", "%[o]") XP_MAC("%[v1]", "%[w1]", "%[o]")  \
                   LOAD " %[w0],-1(%[b])\n" LOAD_ON("%[w1]", "%[ys]", "%[b]") SECOND("0") SECOND("1")           \
                   XP_MAC("%[v2]", "%[w0]", "%[o]") XP_MAC("%[v3]", "%[w1]", "%[o]") SECOND("2") SECOND("3")    \
                   EACH(CLIP) XP_PACKLO("%[v0]", "%[v1]", "%[v0]") XP_PACKHI("%[v0]", "%[v3]", "%[v2]")         \
                   "xor %[v0],%[v0],%[f]\n" XP_LOOP_END XP_SWR("%[v0]", "%[ys]", "%[y]") XP_END                 \
                   : [x] "+r"(x), [y] "+r"(y), [b] "+r"(b), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2),     \
                     [v3] "=&r"(v3), [w0] "=&r"(w0), [w1] "=&r"(w1)                                             \
                   : [n] "r"(rows), [xs] "r"(4u * columns), [ys] "r"(columns), [m] "r"(args->mul),              \
                     [o] "r"(args->mul_b), [c] "r"(args->add), [r] "r"(args->shift), [f] "r"(flip),             \
                     [s0] "r"(stage[0]), [s1] "r"(stage[1]), [s2] "r"(stage[2]), [s3] "r"(stage[3]),            \
                     [a0] "r"(stage[4]), [a1] "r"(stage[5]), [a2] "r"(stage[6]), [a3] "r"(stage[7])             \
                   : "memory")

static void four_columns(const struct tvm_pulp_requantize_sum_args *args, uint32_t first, uint32_t row, uint32_t rows) {
  const uint32_t columns = args->columns, at = row * columns + first;
  const int32_t *x = args->x + at, *stage = args->stages + 2u * first;
  const uint8_t *b = args->b + at + 3u;
  uint8_t *y = args->y + at;
  /* Bytes of the other sign have their sign bit flipped. */
  const int32_t flip = args->y_type == TVM_PULP_INT8 ? 0 : (int32_t)0x80808080u;
  int32_t v0, v1, v2, v3, w0, w1;
  XP_BY_SIGN(args->b_type, LOOP("lb", XP_LBR), LOOP("lbu", XP_LBUR));
}

TVM_PULP_KERNEL(requantize_sum) {
  const uint32_t groups = args->columns >> 2;
  struct tvm_pulp_group_share s = tvm_pulp_share_groups(groups, args->rows, core, cores);
  if (s.range.begin == s.range.end) return;
  for (; s.first < groups; s.first += s.step) {
    four_columns(args, 4u * s.first, s.range.begin, s.range.end - s.range.begin);
  }
}
