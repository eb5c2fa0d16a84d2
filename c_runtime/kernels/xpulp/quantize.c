/* SPDX-License-Identifier: Apache-2.0
 *
 * Four values at a time in 16.16 fixed point: -x * (65536 / scale) - (zero point and a half) in one rounding, as an
 * integer, whose third byte is the complement of the result once it is clipped. The complement, because what is not a
 * number becomes the largest integer and shall be the smallest byte. Within the bytes' range the reciprocal, both
 * roundings and that of the quotient are together at most three units wrong. Half of UNSURE is added, so that only a
 * value whose lower half is below UNSURE may belong to the other side of a step, or to neither as a tie does. After a
 * few values the least lower half tells whether they have to be computed again by the quotient. */
#include "tvm_pulp/plain/quantize.h"
#include "tvm_pulp/xpulp.h"

#define UNSURE 8
/* Values between two looks at the least lower half. */
#define CHUNK 32u

static __attribute__((noinline)) void exactly(const struct tvm_pulp_quantize_args *args, const float *x, uint8_t *y,
                                              uint32_t count) {
  tvm_pulp_plain_quantize_piece(args, x, y, count);
}

#define EACH(OP) OP("%[v0]", "%[f0]", "0") OP("%[v1]", "%[f1]", "4") OP("%[v2]", "%[f2]", "8") OP("%[v3]", "%[f3]", "12")
#define LOAD(v, f, i) "flw " f "," i "(%[x])\n"
#define SCALE(v, f, i) "fmadd.s " f "," f ",%[k],%[o]\n"
#define FIXED(v, f, i) "fcvt.w.s " v "," f ",rdn\n"
#define LEAST(v, f, i) XP_MINU2("%[m]", "%[m]", v)
#define CLIP(v, f, i) XP_CLIPR(v, v, "%[c]")
#define LOOP(STORE)                                                                                             \
  __asm__ volatile(XP_BEGIN XP_LOOP("%[n]") EACH(LOAD) "addi %[x],%[x],16\n" EACH(SCALE) EACH(FIXED) EACH(LEAST)  \
                       EACH(CLIP) XP_SHUFFLE2_B("%[v0]", "%[v1]", "%[t]") XP_SHUFFLE2_B("%[v2]", "%[v3]", "%[t]") \
                           XP_PACK_H("%[v0]", "%[v2]", "%[v0]") "xor %[v0],%[v0],%[g]\n" STORE XP_END             \
                   : [x] "+r"(x), [y] "+r"(to), [m] "+r"(least), [v0] "=&r"(v0), [v1] "=&r"(v1), [v2] "=&r"(v2), \
                     [v3] "=&r"(v3), [f0] "=&f"(f0), [f1] "=&f"(f1), [f2] "=&f"(f2), [f3] "=&f"(f3)             \
                   : [n] "r"(n), [k] "f"(factor), [o] "f"(offset), [c] "r"(0x7fffff), [t] "r"(0x0602),          \
                     [g] "r"(flip), [s] "r"(step)                                                               \
                   : "memory")
#define TOGETHER XP_LOOP_END XP_SW("%[v0]", 4, "%[y]")
#define APART                                                                                     \
  XP_SBR("%[v0]", "%[s]", "%[y]") "srli %[v0],%[v0],8\n" XP_SBR("%[v0]", "%[s]", "%[y]") "srli %[v0],%[v0],8\n" \
  XP_SBR("%[v0]", "%[s]", "%[y]") "srli %[v0],%[v0],8\n" XP_LOOP_END XP_SBR("%[v0]", "%[s]", "%[y]")

static void piece(const struct tvm_pulp_quantize_args *args, const float *x, uint8_t *y, uint32_t count) {
  /* Unsigned bytes are signed ones with their sign bit flipped. */
  const int32_t is_signed = args->y_type == TVM_PULP_INT8, flip = is_signed ? -1 : 0x7f7f7f7f;
  const int32_t zero = is_signed ? args->zero_point : args->zero_point - 128;
  const float factor = args->reals[1] * -65536.0f, offset = (float)(UNSURE / 2 - 32768 - zero * 65536);
  const uint32_t step = args->y_step;
  while (count >= 4u) {
    const uint32_t done = count < CHUNK ? count & ~3u : CHUNK, n = done >> 2;
    const float *from = x;
    uint8_t *to = y;
    int32_t v0, v1, v2, v3, least = -1;
    float f0, f1, f2, f3;
    if (step == 1u) {
      LOOP(TOGETHER);
    } else {
      LOOP(APART);
    }
    if (__builtin_expect(((uint32_t)least & 0xffffu) < UNSURE, 0)) exactly(args, from, y, done);
    y += done * step;
    count -= done;
  }
  if (count) exactly(args, x, y, count);
}

TVM_PULP_KERNEL(quantize) { TVM_PULP_QUANTIZE_ROWS(piece) }
