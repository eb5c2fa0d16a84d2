/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of all rows, whose constants stay in registers; where there are few columns, of some rows. */
#include "tvm_pulp/kernels.h"
#include "tvm_pulp/work_share.h"
#include "tvm_pulp/xpulp.h"

#define EACH(OP) OP("0") OP("1") OP("2") OP("3")
#define FIRST(i) XP_ADDNR("%[v" i "]", "%[a" i "]", "%[s" i "]")
#define CLIP(i) XP_CLIPR("%[v" i "]", "%[v" i "]", "%[h]")
#define MULTIPLY(i) "mul %[v" i "],%[v" i "],%[m]\n"
#define SECOND(i) XP_ADDNR("%[v" i "]", "%[c" i "]", "%[r]")

static void four_columns(const struct tvm_pulp_requantize_add_args *args, const int32_t *x, uint8_t *y,
                         const int32_t *stage, uint32_t rows) {
  const uint32_t stride = args->columns;
  int32_t v0, v1, v2, v3;
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") "lw %[v1],4(%[x])\nlw %[v2],8(%[x])\nlw %[v3],12(%[x])\nlw %[v0],0(%[x])\n"
                   "add %[x],%[x],%[xs]\n" EACH(FIRST) EACH(CLIP) EACH(MULTIPLY) EACH(SECOND) EACH(CLIP)
                   XP_PACKLO("%[v0]", "%[v1]", "%[v0]") XP_PACKHI("%[v0]", "%[v3]", "%[v2]") "xor %[v0],%[v0],%[f]\n"
                   XP_LOOP_END XP_SWR("%[v0]", "%[ys]", "%[y]") XP_END
                   : [x] "+r"(x), [y] "+r"(y), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2), [v3] "=&r"(v3)
                   : [n] "r"(rows), [xs] "r"(4u * stride), [ys] "r"(stride), [h] "r"(127), [m] "r"(args->mul),
                     [r] "r"(args->shift), [f] "r"(args->y_type == TVM_PULP_INT8 ? 0 : (int32_t)0x80808080u),
                     [s0] "r"(stage[0]), [s1] "r"(stage[1]), [s2] "r"(stage[2]), [s3] "r"(stage[3]), [a0] "r"(stage[4]),
                     [a1] "r"(stage[5]), [a2] "r"(stage[6]), [a3] "r"(stage[7]), [c0] "r"(stage[8]), [c1] "r"(stage[9]),
                     [c2] "r"(stage[10]), [c3] "r"(stage[11])
                   : "memory");
}

TVM_PULP_KERNEL(requantize_add) {
  const uint32_t groups = args->columns >> 2;
  uint32_t first = core, step = cores;
  struct tvm_pulp_range rows = {0, args->rows};
  if (groups < cores) {
    rows = tvm_pulp_share(args->rows, core, cores);
    if (rows.begin == rows.end) return;
    first = 0;
    step = 1;
  }
  for (; first < groups; first += step) {
    const uint32_t at = rows.begin * args->columns + 4u * first;
    four_columns(args, args->x + at, args->y + at, args->stages + 12u * first, rows.end - rows.begin);
  }
}
