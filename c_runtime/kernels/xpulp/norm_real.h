/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer normalizations by single precision: two rows at a time, four columns at a time.
 *
 * v = (x - mean) / root * weight + bias in units of 2^-16 is off by less than `near` units, of which `lift` are part of
 * the bias; kernels.h says what they cover. So the integer part is right unless the fraction is below `near`: then the
 * loop stops, and what it holds is computed by division. Cores n and n + 4 share a float unit: every second instruction
 * leaves it to the other one. */
#ifndef TVM_PULP_NORM_REAL_H
#define TVM_PULP_NORM_REAL_H

#include "norm_row.h"
#include "tvm_pulp/plain/norm.h"

#if defined(__riscv_flen)
struct tvm_pulp_real_row {
  const uint8_t *x;
  uint8_t *y;
  int32_t mean, root;
  float factor;
};

/* Only one core at a time divides, so that it is done by bits what can be. */
static inline void tvm_pulp_set_real_root(struct tvm_pulp_real_row *row, uint32_t value) {
  row->root = (int32_t)tvm_pulp_xp_isqrt(value);
  row->factor = 1.0f / (float)row->root;
}

#define REAL_MAX2(rd, a, b) XP_R(0x57, 0, 0x18, rd, a, b)
#define REAL_MIN2(rd, a, b) XP_R(0x57, 0, 0x10, rd, a, b)
#define REAL_FROM(f, v) "fcvt.s.w " f "," v "\n"
#define REAL_TIMES(f, k) "fmul.s " f "," f "," k "\n"
#define REAL_PLUS(f, w, b) "fmadd.s " f "," f "," w "," b "\n"
#define REAL_FLOOR(v, f) "fcvt.w.s " v "," f ",rdn\n"
#define REAL_FLW(f, i, p) "flw " f "," i "(" p ")\n"
#define REAL_CENTRED(v, mean) "sub " v "," v "," mean "\n"
#define REAL_KEPT(v, mean)
/* Biases from memory, and one for all columns. */
#define REAL_BIAS(f, i) REAL_FLW(f, i, "%[b]")
#define REAL_NO_BIAS(f, i)
#define REAL_NEXT_BIAS "addi %[b],%[b],16\n"
#define REAL_OWN(f) f
#define REAL_SAME(f) "%[l]"

/* Values of the second row, and fractions. */
#define U0 XP_SCRATCH(u0, "a3")
#define U1 XP_SCRATCH(u1, "ra")
#define U2 XP_SCRATCH(u2, "t2")
#define U3 XP_SCRATCH(u3, "t3")
#define T1 XP_SCRATCH(t1, "t4")
#define T2 XP_SCRATCH(t2, "a7")

/* Fractions of four elements, in two words, become the largest ones where x is the mean. */
#define REAL_SURE(x, mean, low, high)                                                      \
  "lw " U1 ",-4(" x ")\n" XP_R(0x57, 5, 0x02, U1, U1, mean) XP_SHUFFLE2_B(U2, U1, "%[v2]") \
  XP_SHUFFLE2_B(U3, U1, "%[v3]") "or " low "," low "," U2 "\nor " high "," high "," U3 "\n"
#define REAL_PAIR(LOAD, CENTRE, BIAS, B, NEXT)                                                                                       \
  __asm__ volatile(                                                                                                                  \
      XP_BEGIN XP_LOOP("%[t0]") LOAD("%[v0]", 1, "%[x0]") LOAD("%[v1]", 1, "%[x0]") LOAD("%[v2]", 1, "%[x0]")                        \
      LOAD("%[v3]", 1, "%[x0]") CENTRE("%[v0]", "%[m0]") CENTRE("%[v1]", "%[m0]") CENTRE("%[v2]", "%[m0]")                           \
      CENTRE("%[v3]", "%[m0]") REAL_FROM("ft0", "%[v0]") REAL_FLW("fa0", "0", "%[w]") REAL_FROM("ft1", "%[v1]")                      \
      REAL_FLW("fa1", "4", "%[w]") REAL_FROM("ft2", "%[v2]") REAL_FLW("fa2", "8", "%[w]") REAL_FROM("ft3", "%[v3]")                  \
      REAL_FLW("fa3", "12", "%[w]") REAL_TIMES("ft0", "%[k0]") BIAS("fa4", "0") REAL_TIMES("ft1", "%[k0]")                           \
      BIAS("fa5", "4") REAL_TIMES("ft2", "%[k0]") BIAS("fa6", "8") REAL_TIMES("ft3", "%[k0]") BIAS("fa7", "12")                      \
      REAL_PLUS("ft0", "fa0", B("fa4")) LOAD(U0, 1, "%[x1]") REAL_PLUS("ft1", "fa1", B("fa5"))                                       \
      LOAD(U1, 1, "%[x1]") REAL_PLUS("ft2", "fa2", B("fa6")) LOAD(U2, 1, "%[x1]")                                                    \
      REAL_PLUS("ft3", "fa3", B("fa7")) LOAD(U3, 1, "%[x1]") REAL_FLOOR("%[v0]", "ft0")                                              \
      CENTRE(U0, "%[m1]") REAL_FLOOR("%[v1]", "ft1") CENTRE(U1, "%[m1]") REAL_FLOOR("%[v2]", "ft2")                                  \
      CENTRE(U2, "%[m1]") REAL_FLOOR("%[v3]", "ft3") CENTRE(U3, "%[m1]") REAL_FROM("ft4", U0)                                        \
      XP_PACK_H("%[t0]", "%[v1]", "%[v0]") REAL_FROM("ft5", U1) XP_MINU2("%[a]", "%[t0]", "%[e]")                                    \
      REAL_FROM("ft6", U2) XP_PACK_H(T1, "%[v3]", "%[v2]") REAL_FROM("ft7", U3)                                                      \
      XP_MINU2("%[a]", "%[a]", T1) REAL_TIMES("ft4", "%[k1]") XP_SHUFFLE2_H("%[v0]", "%[v1]", "%[s]")                                \
      REAL_TIMES("ft5", "%[k1]") XP_SHUFFLE2_H("%[v2]", "%[v3]", "%[s]") REAL_TIMES("ft6", "%[k1]")                                  \
      REAL_MAX2("%[v0]", "%[v0]", "%[lo]") REAL_TIMES("ft7", "%[k1]") REAL_MAX2("%[v2]", "%[v2]", "%[lo]")                           \
      REAL_PLUS("ft4", "fa0", B("fa4")) REAL_MIN2("%[v0]", "%[v0]", "%[hi]") REAL_PLUS("ft5", "fa1", B("fa5"))                       \
      REAL_MIN2("%[v2]", "%[v2]", "%[hi]") REAL_PLUS("ft6", "fa2", B("fa6"))                                                         \
      XP_SHUFFLE2_B("%[v0]", "%[v2]", "%[c]") REAL_PLUS("ft7", "fa3", B("fa7")) "addi %[w],%[w],16\n"                                \
      REAL_FLOOR(U0, "ft4") NEXT REAL_FLOOR(U1, "ft5") REAL_FLOOR(U2, "ft6")                                                         \
      XP_PACK_H(T2, U1, U0) REAL_FLOOR(U3, "ft7") XP_MINU2("%[a]", "%[a]", T2)                                                       \
      XP_PACK_H("%[t3]", U3, U2) XP_MINU2("%[a]", "%[a]", "%[t3]")                                                                   \
      XP_SHUFFLE2_H(U0, U1, "%[s]") XP_SHUFFLE2_H(U2, U3, "%[s]")                                                                    \
      REAL_MAX2(U0, U0, "%[lo]") REAL_MAX2(U2, U2, "%[lo]")                                                                          \
      REAL_MIN2(U0, U0, "%[hi]") REAL_MIN2(U2, U2, "%[hi]")                                                                          \
      XP_SHUFFLE2_B(U0, U2, "%[c]") "bne %[a],%[e],5f\n4:\n" XP_SW("%[v0]", 4, "%[y0]")                                              \
      XP_LOOP_END XP_SW(U0, 4, "%[y1]") "j 3f\n5:\nli %[v2],0x05050404\nli %[v3],0x07070606\n"                                       \
      REAL_SURE("%[x0]", "%[m0]", "%[t0]", T1) REAL_SURE("%[x1]", "%[m1]", T2, "%[t3]")                                              \
      XP_MINU2("%[a]", "%[t0]", "%[e]") XP_MINU2("%[a]", "%[a]", T1) XP_MINU2("%[a]", "%[a]", T2)                                    \
      XP_MINU2("%[a]", "%[a]", "%[t3]") "beq %[a],%[e],4b\n3:\n" XP_END                                                              \
      : XP_TWO("+r", x), XP_TWO("+r", y), [w] "+r"(w), [b] "+r"(b), FOUR_VALUES XP_SCRATCH_OPERANDS(XP_FOUR("=&r", u)), [t0] "+r"(n) \
        XP_SCRATCH_OPERANDS([t1] "=&r"(t1), [t2] "=&r"(t2)), [t3] "=&r"(t3), [a] "=&r"(a)                                            \
      : [m0] "r"(r[0].mean), [m1] "r"(r[1].mean), [k0] "f"(r[0].factor), [k1] "f"(r[1].factor),                                      \
        [e] "r"(near), [s] "r"(0x00030001), [c] "r"(0x06040200), [lo] "r"(~high), [hi] "r"(high), [l] "f"(lift)                      \
      : "memory", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",                  \
        "fa6", "fa7" XP_SCRATCH_REGISTERS(U0, U1, U2, U3, T1, T2))

/* Rows whose statistics are made together, so that each loop's code stays in the private cache. */
enum { REAL_BATCH = 8 };

/* `pairs` pairs of rows; `exact(args, row, column)` is one element. */
#define TVM_PULP_REAL_PAIRS(name, structure, LOAD, CENTRE, BIAS, B, NEXT, BIASES)                                 \
  static __attribute__((noinline)) void name(const struct structure *args, const struct tvm_pulp_real_row *r,     \
                                             uint32_t pairs) {                                                    \
    const float lift = (float)(int32_t)args->lift;                                                                \
    const int32_t high = (int32_t)((args->levels / 2u - 1u) * 0x10001u), near = (int32_t)(args->near * 0x10001u); \
    for (; pairs > 0u; --pairs, r += 2) {                                                                         \
      const uint8_t *x0 = r[0].x, *x1 = r[1].x, *end = x0 + args->columns;                                        \
      uint8_t *y0 = r[0].y, *y1 = r[1].y;                                                                         \
      const float *w = args->real_weight, *b = BIASES;                                                            \
      while (x0 != end) {                                                                                         \
        int32_t v0, v1, v2, v3, t3, a;                                                                            \
        XP_SCRATCH_VALUE u0, u1, u2, u3, t1, t2;                                                                  \
        uint32_t n = (uint32_t)(end - x0) >> 2;                                                                   \
        REAL_PAIR(LOAD, CENTRE, BIAS, B, NEXT);                                                                   \
        if (a == near) continue;                                                                                  \
        for (uint32_t i = args->columns - (uint32_t)(end - x0) - 4u, last = i + 4u; i < last; ++i) {              \
          *y0++ = (uint8_t)exact(args, r, i);                                                                     \
          *y1++ = (uint8_t)exact(args, r + 1, i);                                                                 \
        }                                                                                                         \
      }                                                                                                           \
    }                                                                                                             \
  }

/* A core's rows, an odd last one twice; `statistics(args, row)` sets all but x and y. */
#define TVM_PULP_REAL_ROWS(structure)                                                                            \
  static __attribute__((noinline)) void real_rows(const struct structure *args, uint32_t core, uint32_t cores) { \
    struct tvm_pulp_real_row rows[REAL_BATCH];                                                                   \
    struct tvm_pulp_range range = tvm_pulp_share(args->rows, core, cores);                                       \
    for (uint32_t first = range.begin; first < range.end; first += REAL_BATCH) {                                 \
      uint32_t count = range.end - first < REAL_BATCH ? range.end - first : (uint32_t)REAL_BATCH;                \
      for (uint32_t i = 0; i < count; ++i) {                                                                     \
        rows[i].x = (const uint8_t *)args->x + (first + i) * args->columns;                                      \
        rows[i].y = (uint8_t *)args->y + (first + i) * args->columns;                                            \
        statistics(args, &rows[i]);                                                                              \
      }                                                                                                          \
      if (count & 1u) rows[count] = rows[count - 1u];                                                            \
      const uint32_t pairs = (count + 1u) >> 1;                                                                  \
      XP_BY_SIGN(args->x_type, signed_pairs(args, rows, pairs), unsigned_pairs(args, rows, pairs));              \
    }                                                                                                            \
  }
#endif

#endif /* TVM_PULP_NORM_REAL_H */
