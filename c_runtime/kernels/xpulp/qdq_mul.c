/* SPDX-License-Identifier: Apache-2.0
 *
 * Four products at a time. */
#include "row_walk.h"
#include "tvm_pulp/plain/qdq_mul.h"
#include "tvm_pulp/xpulp.h"

#define EACH(OP) OP("%[a0]", "%[b0]", "%[f0]") OP("%[a1]", "%[b1]", "%[f1]") OP("%[a2]", "%[b2]", "%[f2]") \
  OP("%[a3]", "%[b3]", "%[f3]")
#define PRODUCT(a, b, f)                                                                        \
  "sub " a "," a ",%[za]\nsub " b "," b ",%[zb]\nmul " a "," a "," b "\nfcvt.s.w " f "," a "\n"  \
  "fmul.s " f "," f ",%[k]\nfcvt.w.s " a "," f ",rne\n" XP_MAX(a, a, "%[l]") XP_MIN(a, a, "%[h]")
#define LOADS(LOAD, to, at) LOAD(to "0]", 1, at) LOAD(to "1]", 1, at) LOAD(to "2]", 1, at) LOAD(to "3]", 1, at)
#define LOOP(LOAD_A, LOAD_B)                                                                                \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LOADS(LOAD_A, "%[a", "%[a]") LOADS(LOAD_B, "%[b", "%[b]") EACH(PRODUCT)  \
                       XP_PACKLO("%[a0]", "%[a1]", "%[a0]") XP_PACKHI("%[a0]", "%[a3]", "%[a2]")             \
                           XP_ADD4("%[a0]", "%[a0]", "%[z]") XP_LOOP_END XP_SW("%[a0]", 4, "%[y]") XP_END     \
                   : [a] "+r"(a), [b] "+r"(b), [y] "+r"(y), XP_FOUR("=&r", a), XP_FOUR("=&r", b),            \
                     XP_FOUR("=&f", f)                                                                       \
                   : [n] "r"(n), [za] "r"(args->zero_point_a), [zb] "r"(args->zero_point_b), [k] "f"(*args->scale), \
                     [l] "r"(args->low), [h] "r"(args->high), [z] "r"(zeros)                                 \
                   : "memory")

static void piece(const struct tvm_pulp_qdq_mul_args *args, const uint8_t *a, const uint8_t *b, uint8_t *y,
                  uint32_t count) {
  uint32_t n = count >> 2;
  if (n) {
    int32_t a0, a1, a2, a3, b0, b1, b2, b3, zeros = (int32_t)((uint32_t)(args->zero_point & 0xff) * 0x01010101u);
    float f0, f1, f2, f3;
    XP_BY_SIGN(args->a_type, XP_BY_SIGN(args->b_type, LOOP(XP_LB, XP_LB), LOOP(XP_LB, XP_LBU)),
               XP_BY_SIGN(args->b_type, LOOP(XP_LBU, XP_LB), LOOP(XP_LBU, XP_LBU)));
  }
  tvm_pulp_plain_qdq_mul_piece(args, a, b, y, count & 3u);
}

TVM_PULP_KERNEL(qdq_mul) {
  uint32_t columns = args->columns;
  struct tvm_pulp_row_walk w = tvm_pulp_walk_pieces(args->rows, columns, core, cores);
  for (; tvm_pulp_next_piece(&w); tvm_pulp_walk_on(&w)) {
    uint32_t at = w.row * columns + w.column;
    piece(args, args->a + at, args->b + w.row * args->b_stride + w.column, args->y + at, w.count);
  }
}
