/* SPDX-License-Identifier: Apache-2.0
 *
 * Four columns of two rows at a time: weights and summands are loaded once for both. A dot product with a word that
 * holds the multiplier in one byte takes that element out of its word and multiplies it, so multipliers are below 128.
 * Cores n and n + 4 share a float unit: where it can be had every second instruction leaves it to the other one. */
#ifndef TVM_PULP_NORM_PAIRS_H
#define TVM_PULP_NORM_PAIRS_H

/* Values of the second row: as operands they would be more than GNU's compiler takes. */
#define U0 "t3"
#define U1 "t4"
#define U2 "t5"
#define U3 "t6"
#define PAIR(DOT, LOAD_BIAS, SUM)                                                                                                   \
  __asm__ volatile(                                                                                                                 \
      XP_BEGIN XP_LOOP("%[n]") XP_LW("%[v3]", 4, "%[x]") XP_LW(U3, 4, "%[t]") DOT("%[v0]", "%[v3]", "%[s0]")                        \
      DOT("%[v1]", "%[v3]", "%[s1]") DOT("%[v2]", "%[v3]", "%[s2]") DOT("%[v3]", "%[v3]", "%[s3]") MOVED("%[v0]")                   \
      MOVED("%[v1]") MOVED("%[v2]") MOVED("%[v3]") FROM("ft0", "%[v0]") FLW("fa0", "0", "%[w]") FROM("ft1", "%[v1]")                \
      FLW("fa1", "4", "%[w]") FROM("ft2", "%[v2]") FLW("fa2", "8", "%[w]") FROM("ft3", "%[v3]")                                     \
      FLW("fa3", "12", "%[w]") TIMES("ft0", "%[k]") DOT(U0, U3, "%[s0]") TIMES("ft1", "%[k]")                                       \
      DOT(U1, U3, "%[s1]") TIMES("ft2", "%[k]") DOT(U2, U3, "%[s2]") TIMES("ft3", "%[k]")                                           \
      DOT(U3, U3, "%[s3]") TIMES("ft0", "fa0") MOVED_TOO(U0) TIMES("ft1", "fa1") MOVED_TOO(U1)                                      \
      TIMES("ft2", "fa2") MOVED_TOO(U2) TIMES("ft3", "fa3") MOVED_TOO(U3) FROM("ft4", U0)                                           \
      LOAD_BIAS("fa4", "0", "%[b]") FROM("ft5", U1) LOAD_BIAS("fa5", "4", "%[b]") FROM("ft6", U2)                                   \
      LOAD_BIAS("fa6", "8", "%[b]") FROM("ft7", U3) LOAD_BIAS("fa7", "12", "%[b]") SUM("ft0", "fa4")                                \
      SUM("ft1", "fa5") SUM("ft2", "fa6") "addi %[w],%[w],16\n" SUM("ft3", "fa7") TO("%[v0]", "ft0")                                \
      "addi %[b],%[b],16\n" TO("%[v1]", "ft1") TO("%[v2]", "ft2") TO("%[v3]", "ft3")                                                \
      XP_PACK_H("%[v0]", "%[v1]", "%[v0]") TIMES("ft4", "%[l2]") TIMES("ft5", "%[l2]")                                              \
      XP_PACK_H("%[v2]", "%[v3]", "%[v2]") TIMES("ft6", "%[l2]") TIMES("ft7", "%[l2]") MAX2("%[v0]")                                \
      TIMES("ft4", "fa0") MAX2("%[v2]") TIMES("ft5", "fa1") MIN2("%[v0]") TIMES("ft6", "fa2") MIN2("%[v2]")                         \
      TIMES("ft7", "fa3") XP_SHUFFLE2_B("%[v0]", "%[v2]", "%[c]") SUM("ft4", "fa4")                                                 \
      XP_ADD4("%[v0]", "%[v0]", "%[z]") SUM("ft5", "fa5") XP_SW("%[v0]", 4, "%[y]") SUM("ft6", "fa6") SUM("ft7", "fa7")             \
      TO(U0, "ft4") TO(U1, "ft5") XP_PACK_H(U0, U1, U0) TO(U2, "ft6") MAX2(U0)                                                      \
      TO(U3, "ft7") MIN2(U0) XP_PACK_H(U2, U3, U2) MAX2(U2) MIN2(U2)                                                                \
      XP_SHUFFLE2_B(U0, U2, "%[c]") XP_ADD4(U0, U0, "%[z]") XP_LOOP_END                                                             \
      XP_SW(U0, 4, "%[r]") XP_END                                                                                                   \
      : [x] "+r"(x), [y] "+r"(y), [t] "+r"(x1), [r] "+r"(y1), [w] "+r"(weight), [b] "+r"(bias), FOUR_VALUES                         \
      : [n] "r"(n), [o] "r"(p->offset), [q] "r"(p[1].offset), [k] "f"(p->factor), [l2] "f"(p[1].factor),                            \
        [l] "r"(low), [h] "r"(high), [z] "r"(zeros), [c] "r"(0x06040200), [s0] "r"(multiplier),                                     \
        [s1] "r"(multiplier << 8), [s2] "r"(multiplier << 16), [s3] "r"(multiplier << 24)                                           \
      : "memory", U0, U1, U2, U3, "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", \
        "fa6", "fa7")
#define MOVED_TOO(v) "add " v "," v ",%[q]\n"

/* Whether the loop can take a piece and the one behind it. */
static inline int are_pair(const struct piece *p, uint32_t pieces) {
  return pieces > 1u && p[0].column == p[1].column && p[0].count == p[1].count && p[0].count >= 4u &&
         p[0].multiplier < 128;
}

/* What is left of two pieces lies where the loop ended; little code in the loop's way, since most rows leave nothing. */
static __attribute__((noinline)) void leave_rest(struct piece *p, const uint8_t *x, const uint8_t *x1, uint8_t *y,
                                                 uint8_t *y1) {
  p[0].column += (uint32_t)(x - p[0].x);
  p[1].column = p[0].column;
  p[0].x = x;
  p[1].x = x1;
  p[0].y = y;
  p[1].y = y1;
}

/* Pieces two by two up to the first two that differ in their columns; returns how many. The end of one that is no
 * multiple of four is left to others. */
#define PAIRS(name, LOAD_BIAS, SUM)                                                                           \
  static __attribute__((noinline)) uint32_t name(const struct tvm_pulp_qdq_norm_args *args, struct piece *p,  \
                                                 uint32_t pieces) {                                           \
    const int32_t zeros = (int32_t)((uint32_t)(args->zero_point & 0xff) * 0x01010101u);                       \
    const int32_t low = HALVES(args->low), high = HALVES(args->high), multiplier = p->multiplier;             \
    uint32_t done = 0;                                                                                        \
    for (; are_pair(p, pieces - done); done += 2u, p += 2) {                                                  \
      const uint8_t *x = p->x, *x1 = p[1].x;                                                                  \
      uint8_t *y = p->y, *y1 = p[1].y;                                                                        \
      uintptr_t weight = (uintptr_t)(args->weight0 + p->column), bias = (uintptr_t)(args->bias0 + p->column); \
      int32_t v0, v1, v2, v3;                                                                                 \
      uint32_t n = p->count >> 2;                                                                             \
      XP_BY_SIGN(args->x_type, PAIR(XP_DOTSP, LOAD_BIAS, SUM), PAIR(XP_DOTUSP, LOAD_BIAS, SUM));              \
      n = p->count & 3u;                                                                                      \
      p[0].count = p[1].count = n;                                                                            \
      if (n) leave_rest(p, x, x1, y, y1);                                                                     \
    }                                                                                                         \
    return done;                                                                                              \
  }

#endif /* TVM_PULP_NORM_PAIRS_H */
