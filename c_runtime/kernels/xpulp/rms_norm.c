/* SPDX-License-Identifier: Apache-2.0
 *
 * With P = x * weight, s the root and S = s << shift, the result is floor(P / S) for P >= 0 and floor((P + s - 1) / S)
 * for P < 0: truncation by s, then floor by the shift. In doubled numbers, v = 2 P and v = 2 (P + s - 1) + 1 over
 * D = 2 S. The reciprocal is rounded up, M = floor(2^(32 + j) / D) + 1 with 2^j < D < 2^(j + 1), so v * M exceeds the
 * true quotient by less than |v| / 2^(32 + j): less than the gap of 2 / D (even v >= 0) or 1 / D (odd v) while
 * |v| < 2^31. A power of two has an exact reciprocal instead. */
#include "norm_row.h"
#include "tvm_pulp/plain/norm.h"

#define VALUE(v, w) "mul " v "," v "," w "\n"
#define SIGN(v, w) "srli " w "," v ",31\n"
#define SHIFTED(v, w) XP_MAC(v, w, "%[c]")
#define DIVIDED(v, w) "mulhsu " v "," v ",%[m]\n"
#define SCALED(v, w) "sra " v "," v ",%[j]\n"
#define CLIPPED(v, w) XP_CLIPR(v, v, "%[h]")
#define EACH(OP) OP("%[v0]", "%[w0]") OP("%[v1]", "%[w1]") OP("%[v2]", "%[w2]") OP("%[v3]", "%[w3]")
#define LOADS(LOAD)                                                                                      \
  LOAD("%[v0]", 1, "%[x]") LOAD("%[v1]", 1, "%[x]") LOAD("%[v2]", 1, "%[x]") LOAD("%[v3]", 1, "%[x]")    \
  XP_LW("%[w0]", 4, "%[w]") XP_LW("%[w1]", 4, "%[w]") XP_LW("%[w2]", 4, "%[w]") XP_LW("%[w3]", 4, "%[w]")
#define LOOP(LOAD)                                                                                       \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") LOADS(LOAD) EACH(VALUE) EACH(SIGN) EACH(SHIFTED) EACH(DIVIDED) \
                       EACH(SCALED) EACH(CLIPPED) XP_PACKLO("%[v0]", "%[v1]", "%[v0]")                   \
                       XP_PACKHI("%[v0]", "%[v3]", "%[v2]") XP_LOOP_END XP_SW("%[v0]", 4, "%[y]") XP_END \
                   : [x] "+r"(x), [w] "+r"(weight), [y] "+r"(y), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2), \
                     [v3] "=&r"(v3), [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "=&r"(w3)      \
                   : [n] "r"(n), [c] "r"(correction), [m] "r"(multiplier), [j] "r"(shift), [h] "r"(high) \
                   : "memory")

static void scale_piece(const struct tvm_pulp_rms_norm_args *args, const uint8_t *x, const int32_t *weight, uint8_t *y,
                        uint32_t count, uint32_t root) {
  uint32_t top = (uint32_t)tvm_pulp_xp_fl1((int32_t)root), normal = root << (31u - top);
  uint32_t shift = top + (uint32_t)args->shift, multiplier = 0x80000000u;
  if (normal != 0x80000000u) {
    multiplier = tvm_pulp_divide_long(0x80000000u, 0u, normal) + 1u;
    ++shift;
  }
  int32_t correction = (int32_t)(2u * root - 1u), high = (int32_t)(args->levels / 2u - 1u);
  int32_t v0, v1, v2, v3, w0, w1, w2, w3;
  uint32_t n = count >> 2;
  if (n) {
    if (args->x_type == TVM_PULP_INT8) {
      LOOP(XP_LB);
    } else {
      LOOP(XP_LBU);
    }
  }
  for (uint32_t i = 0; i < (count & 3u); ++i) {
    int32_t value = tvm_pulp_load(x, i, args->x_type) * weight[i], quotient;
    if (value < 0) value += correction;
    __asm__("mulhsu %0,%1,%2" : "=r"(quotient) : "r"(value), "r"(multiplier));
    y[i] = (uint8_t)tvm_pulp_xp_clipr(quotient >> shift, high);
  }
}

TVM_PULP_KERNEL(rms_norm) {
  if (args->wide || args->x_type == TVM_PULP_INT32 || args->levels > 256u) {
    tvm_pulp_plain_rms_norm(args, core, cores);
    return;
  }
  uint32_t columns = args->columns;
  struct tvm_pulp_row_walk w = tvm_pulp_walk_rows(args->rows, columns, core, cores);
  for (; tvm_pulp_next_piece(&w); tvm_pulp_walk_on(&w)) {
    const uint8_t *x = (const uint8_t *)args->x + w.row * columns;
    uint32_t squares = args->x_type == TVM_PULP_INT8 ? tvm_pulp_sums_signed((const int8_t *)x, columns, 0)
                                                     : tvm_pulp_sums_unsigned(x, columns, 0);
    uint32_t root = tvm_pulp_xp_isqrt(squares / columns + 1u);
    uint8_t *y = (uint8_t *)args->y + w.row * columns + w.column;
    scale_piece(args, x + w.column, args->double_weight + w.column, y, w.count, root);
  }
}
