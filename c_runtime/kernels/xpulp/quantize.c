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
                   : [x] "+r"(x), [y] "+r"(to), [m] "+r"(least), XP_FOUR("=&r", v), XP_FOUR("=&f", f)             \
                   : [n] "r"(n), [k] "f"(p.factor), [o] "f"(p.offset), [c] "r"(0x7fffff), [t] "r"(0x0602),          \
                     [g] "r"(p.flip), [s] "r"(step)                                                               \
                   : "memory")
#define TOGETHER XP_LOOP_END XP_SW("%[v0]", 4, "%[y]")
#define APART                                                                                     \
  XP_SBR("%[v0]", "%[s]", "%[y]") "srli %[v0],%[v0],8\n" XP_SBR("%[v0]", "%[s]", "%[y]") "srli %[v0],%[v0],8\n" \
  XP_SBR("%[v0]", "%[s]", "%[y]") "srli %[v0],%[v0],8\n" XP_LOOP_END XP_SBR("%[v0]", "%[s]", "%[y]")

/* What the loops multiply by, add and flip. */
struct fixed_point {
  float factor, offset;
  int32_t flip;
};

static inline struct fixed_point fixed_point_of(const struct tvm_pulp_quantize_args *args) {
  /* Unsigned bytes are signed ones with their sign bit flipped. */
  const int32_t is_signed = args->y_type == TVM_PULP_INT8;
  const int32_t zero = is_signed ? args->zero_point : args->zero_point - 128;
  return (struct fixed_point){args->reals[1] * -65536.0f, (float)(UNSURE / 2 - 32768 - zero * 65536),
                              is_signed ? -1 : 0x7f7f7f7f};
}

static __attribute__((noinline)) void exactly(const struct tvm_pulp_quantize_args *args, const float *x, uint8_t *y,
                                              uint32_t count) {
  tvm_pulp_plain_quantize_piece(args, x, y, count);
}

static inline int is_unsure(int32_t least) { return __builtin_expect(((uint32_t)least & 0xffffu) < UNSURE, 0); }

static void piece(const struct tvm_pulp_quantize_args *args, const float *x, uint8_t *y, uint32_t count) {
  const struct fixed_point p = fixed_point_of(args);
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
    if (is_unsure(least)) exactly(args, from, y, done);
    y += done * step;
    count -= done;
  }
  if (count) exactly(args, x, y, count);
}

/* Three planes as pixels of three or four bytes, four pixels at a time: a shuffle takes the third bytes of two
 * channels, another one adds that of the last. The loop ends before its last store where a value may be wrong. */
#define PLANE_LOADS(p, a, b, c, d)                                                                          \
  "flw " a ",0(" p ")\nflw " b ",4(" p ")\nflw " c ",8(" p ")\nflw " d ",12(" p ")\naddi " p "," p ",16\n"
#define PIXEL_SCALE(r, g, b) SCALE(, r, ) SCALE(, g, ) SCALE(, b, )
#define PIXEL_FIXED(u, v, w, r, g, b) FIXED(u, r, ) FIXED(v, g, ) FIXED(w, b, )
#define PIXEL_CLIP(u, v, w) LEAST(u, , ) LEAST(v, , ) LEAST(w, , ) CLIP(u, , ) CLIP(v, , ) CLIP(w, , )
#define PIXEL_JOIN(u, v, w) XP_SHUFFLE2_B(u, v, "%[t]") XP_SHUFFLE2_B(u, w, "%[last]")
#define PIXEL_LOOP(STORES, ...)                                                                                       \
  __asm__ volatile(                                                                                               \
      XP_BEGIN XP_LOOP("%[n]") PLANE_LOADS("%[x0]", "ft0", "ft3", "ft6", "ft9")                                   \
          PLANE_LOADS("%[x1]", "ft1", "ft4", "ft7", "ft10") PLANE_LOADS("%[x2]", "ft2", "ft5", "ft8", "ft11")     \
          PIXEL_SCALE("ft0", "ft1", "ft2") PIXEL_SCALE("ft3", "ft4", "ft5") PIXEL_SCALE("ft6", "ft7", "ft8")      \
          PIXEL_SCALE("ft9", "ft10", "ft11") PIXEL_FIXED("%[v0]", "%[v1]", "%[v2]", "ft0", "ft1", "ft2")          \
          PIXEL_FIXED("%[v3]", "%[v4]", "%[v5]", "ft3", "ft4", "ft5") PIXEL_CLIP("%[v0]", "%[v1]", "%[v2]")       \
          PIXEL_CLIP("%[v3]", "%[v4]", "%[v5]") PIXEL_JOIN("%[v0]", "%[v1]", "%[v2]")                             \
          PIXEL_JOIN("%[v3]", "%[v4]", "%[v5]") PIXEL_FIXED("%[v1]", "%[v2]", "%[v4]", "ft6", "ft7", "ft8")       \
          PIXEL_FIXED("%[v5]", "%[v6]", "%[v7]", "ft9", "ft10", "ft11") PIXEL_CLIP("%[v1]", "%[v2]", "%[v4]")     \
          PIXEL_CLIP("%[v5]", "%[v6]", "%[v7]") PIXEL_JOIN("%[v1]", "%[v2]", "%[v4]")                             \
          PIXEL_JOIN("%[v5]", "%[v6]", "%[v7]") STORES "5:\n" XP_END                                              \
      : [x0] "+r"(x0), [x1] "+r"(x1), [x2] "+r"(x2), [y] "+r"(to), [m] "+r"(least), XP_EIGHT("=&r", v)            \
      : [n] "r"(n), [k] "f"(p.factor), [o] "f"(p.offset), [c] "r"(0x7fffff), [t] "r"(0x0602),                     \
        [last] "r"(0x06060100), [g] "r"(p.flip), [h] "r"(0xffff), [u] "r"(UNSURE) __VA_ARGS__                     \
      : "memory", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11")
#define LAST_WORD(v) \
  "and %[v0],%[m],%[h]\nxor " v "," v ",%[g]\nbltu %[v0],%[u],5f\n" XP_LOOP_END XP_SW(v, 4, "%[y]")
#define STORE_WORD(v) "xor " v "," v ",%[g]\n" XP_SW(v, 4, "%[y]")
#define FOUR_BYTES                                                                                    \
  STORE_WORD("%[v0]") STORE_WORD("%[v3]") STORE_WORD("%[v1]") LAST_WORD("%[v5]")
#define THREE_BYTES                                                                                   \
  XP_SHUFFLE2_B("%[v0]", "%[v3]", "%[s0]") XP_SHUFFLE2_B("%[v3]", "%[v1]", "%[s1]")                   \
  XP_SHUFFLE2_B("%[v5]", "%[v1]", "%[s2]") STORE_WORD("%[v0]") STORE_WORD("%[v3]") LAST_WORD("%[v5]")

static __attribute__((noinline)) void pixels(const struct tvm_pulp_quantize_args *args, uint32_t begin, uint32_t end) {
  const struct fixed_point p = fixed_point_of(args);
  const uint32_t step = args->y_step, plane = args->columns;
  while (begin < end) {
    const float *x = args->x + begin, *x0 = x, *x1 = x0 + plane, *x2 = x1 + plane;
    uint8_t *to = args->y + begin * step;
    const uint32_t n = (end - begin) >> 2;
    uint32_t again = end - begin;
    if (n) {
      int32_t v0, v1, v2, v3, v4, v5, v6, v7, least = -1;
      if (step == 3u) {
        PIXEL_LOOP(THREE_BYTES, , [s0] "r"(0x04020100), [s1] "r"(0x05040201), [s2] "r"(0x02010006));
      } else {
        PIXEL_LOOP(FOUR_BYTES, );
      }
      again = is_unsure(least) ? 4u : 0u;
      begin += (uint32_t)(x0 - x) - again;
    }
    for (uint32_t c = 0; c < step && again; ++c) {
      exactly(args, args->x + (c < 2u ? c : 2u) * plane + begin, args->y + begin * step + c, again);
    }
    begin += again;
  }
}

TVM_PULP_KERNEL(quantize) {
  if (args->rows == 3u && args->y_stride == 1u && args->y_step - 3u <= 1u) {
    const struct tvm_pulp_range range = tvm_pulp_share_words(args->columns, core, cores);
    pixels(args, range.begin, range.end);
    return;
  }
  TVM_PULP_QUANTIZE_ROWS(piece)
}
