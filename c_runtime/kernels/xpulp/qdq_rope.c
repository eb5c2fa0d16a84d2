/* SPDX-License-Identifier: Apache-2.0
 *
 * Signed bytes have a loop of their own, one element after the other: the work is arithmetic, not loading. */
#include "tvm_pulp/plain/qdq_rope.h"
#include "tvm_pulp/xpulp.h"

/* v = round(v * w * k), as a float times m in f. */
#define PRODUCT(v, w, zv, zw, k, m, low, high, f)                                                            \
  "sub " v "," v "," zv "\nsub " w "," w "," zw "\nmul " v "," v "," w "\nfcvt.s.w " f "," v "\nfmul.s " f "," f "," k \
  "\nfcvt.w.s " v "," f ",rne\n" XP_MAX(v, v, low) XP_MIN(v, v, high) "fcvt.s.w " f "," v "\nfmul.s " f "," f "," m "\n"

static __attribute__((noinline)) void half_row(const struct tvm_pulp_qdq_rope_args *args, const uint8_t *x,
                                               const uint8_t *other, const uint8_t *table, uint32_t at, uint8_t *y) {
  const uint8_t *cosine = args->cosine + at, *sine = args->sine + at;
  const float *r = args->reals;
  int32_t v, w, p;
  __asm__ volatile(
      XP_BEGIN XP_LOOP("%[n]") XP_LBU("%[p]", 1, "%[o]") XP_LB("%[v]", 1, "%[x]") XP_LB("%[w]", 1, "%[c]")
          XP_LBX("%[p]", "%[p]", "%[t]") XP_LB("t0", 1, "%[i]")
              PRODUCT("%[v]", "%[w]", "%[zx]", "%[zc]", "%[k0]", "%[k2]", "%[l0]", "%[h0]", "ft0")
                  PRODUCT("%[p]", "t0", "%[zp]", "%[zs]", "%[k1]", "%[k3]", "%[l1]", "%[h1]", "ft1")
                      "fadd.s ft0,ft0,ft1\nfcvt.w.s %[v],ft0,rne\n" XP_MAX("%[v]", "%[v]", "%[l]")
                          XP_MIN("%[v]", "%[v]", "%[h]") "add %[v],%[v],%[z]\n" XP_LOOP_END XP_SB("%[v]", 1, "%[y]") XP_END
      : [x] "+r"(x), [o] "+r"(other), [c] "+r"(cosine), [i] "+r"(sine), [y] "+r"(y), [v] "=&r"(v), [w] "=&r"(w),
        [p] "=&r"(p)
      : [n] "r"(args->size / 2u), [t] "r"(table), [zx] "r"(args->zero_point_x), [zc] "r"(args->zero_point_cosine),
        [zp] "r"(args->zero_point_partner), [zs] "r"(args->zero_point_sine), [l0] "r"(args->kept_low),
        [h0] "r"(args->kept_high), [l1] "r"(args->turned_low), [h1] "r"(args->turned_high), [l] "r"(args->low),
        [h] "r"(args->high), [z] "r"(args->zero_point), XP_FOUR_OF("f", k, r)
      : "memory", "t0", "ft0", "ft1"); /* gcc allows 30 operands */
}

TVM_PULP_KERNEL(qdq_rope) {
  if ((args->x_type | args->cosine_type | args->sine_type | args->partner_type) != TVM_PULP_INT8) {
    tvm_pulp_plain_qdq_rope(args, core, cores);
    return;
  }
  uint32_t size = args->size, half = size >> 1, few = args->rows < cores;
  /* Of few rows, as a token has them, halves. */
  struct tvm_pulp_range range = tvm_pulp_share(few ? 2u * args->rows : args->rows, core, cores);
  for (uint32_t item = range.begin; item < range.end; ++item) {
    uint32_t row = few ? item >> 1 : item, at = tvm_pulp_qdq_rope_position(args, row) * size;
    const uint8_t *x = args->x + row * size;
    uint8_t *y = args->y + row * size;
    if (!few || (item & 1u) == 0u) half_row(args, x, x + half, args->first, at, y);
    if (!few || (item & 1u) != 0u) half_row(args, x + half, x, args->second, at + half, y + half);
  }
}
